# hdl.sh - GHDL (Ada, with a JIT of its own), Icarus Verilog, Yosys with abc: simulations and netlists
packages="ghdl-mcode iverilog yosys"
files() { with_libraries "$(program ghdl-mcode)" "$(program iverilog)" "$(program vvp)" "$(program yosys)" "$(program yosys-abc berkeley-abc | head -n 1)"; elves_of iverilog ghdl-mcode; }
run() {
	cat >c.vhdl <<-'END'
	library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all; entity c is end;
	architecture a of c is signal clk : std_logic := '0'; signal n : unsigned(15 downto 0) := (others => '0');
	begin clk <= not clk after 5 ns when n < 500 else '0'; process (clk) begin if rising_edge(clk) then n <= n * 3 / 2 + 1; report integer'image(to_integer(n)); end if; end process;
	process begin wait for 100 ns; assert n = 0 report "n" severity warning; wait for 300 ns; assert false report "stop" severity failure; end process; end;
	END
	ghdl-mcode -a c.vhdl && ghdl-mcode -r c --wave=w.ghw 2>&1 | grep -v 0x; echo "${PIPESTATUS[0]}"; sha256sum w.ghw; ghdl-mcode -s nofile 2>&1; echo 'entity x is port (a : in bit' >e.vhdl; ghdl-mcode -a e.vhdl 2>&1; echo $?
	cat >v.v <<-'END'
	module alu(input [7:0] a, b, input [1:0] op, output reg [7:0] y); always @* case (op) 0: y = a + b; 1: y = a * b; 2: y = a ^ (b << 1); default: y = a < b; endcase endmodule
	module t; reg [7:0] a, b; reg [1:0] op; wire [7:0] y; integer i; alu u(a, b, op, y); initial begin $dumpfile("v.vcd"); $dumpvars; for (i = 0; i < 400; i = i + 1) begin a = i * 7; b = i * 13; op = i; #5 if (i % 40 == 0) $display("%d %h %b", i, y, y); end $finish; end endmodule
	END
	iverilog -g2012 -o v.vvp v.v 2>&1; vvp v.vvp; grep -v '^\$\|[0-9]:[0-9]' v.vcd | sha256sum; echo 'module x(' | iverilog - 2>&1; echo $?
	yosys -q -p 'read_verilog v.v; synth -top alu; abc -g AND,XOR; opt_clean; stat; write_blif o.blif; write_json o.json; sat -prove-asserts -show a' 2>&1 | grep -v -e CPU -e Time; grep -v enerated o.blif | sha256sum
	yosys -q -p 'nothing' 2>&1; echo $?
}
