# ada.sh - gnat, and a program of its: exceptions, tasks, finalization, stack checks, tracebacks
packages=gnat-12
source_text() {
	cat >moved.adb <<-'END'
	with Ada.Text_IO; use Ada.Text_IO;
	with Ada.Exceptions; use Ada.Exceptions;
	with Ada.Finalization;
	with Ada.Containers.Ordered_Maps;
	with GNAT.Traceback.Symbolic;
	procedure Moved is
	   package Maps is new Ada.Containers.Ordered_Maps (Integer, Integer);
	   type Guard is new Ada.Finalization.Limited_Controlled with record N : Integer; end record;
	   overriding procedure Finalize (G : in out Guard) is
	   begin Put_Line ("finalize" & G.N'Image); end Finalize;
	   Overrun : exception;
	   function Deep (N : Integer) return Integer is
	      Pad : array (1 .. 1000) of Integer := (others => N);
	   begin
	      if N mod 7 = 6 then raise Overrun with "at" & N'Image; end if;
	      return Deep (N + 1) + Pad (N mod 1000 + 1);
	   end Deep;
	   function Endless (N : Integer) return Integer is
	      Pad : array (1 .. 10000) of Integer := (others => N);
	   begin return Endless (N + 1) + Pad (5); end Endless;
	   protected Counter is
	      procedure Add (N : Integer); entry Full (Sum : out Integer);
	   private Total, Calls : Integer := 0;
	   end Counter;
	   protected body Counter is
	      procedure Add (N : Integer) is begin Total := Total + N; Calls := Calls + 1; end Add;
	      entry Full (Sum : out Integer) when Calls = 40 is begin Sum := Total; end Full;
	   end Counter;
	   task type Worker (Id : Integer);
	   task body Worker is
	   begin
	      for I in 1 .. 10 loop
	         begin
	            declare Dummy : Integer := Deep (I); begin null; end;
	         exception when E : Overrun => Counter.Add (Exception_Message (E)'Length + Id);
	         end;
	      end loop;
	   end Worker;
	   M : Maps.Map; Sum : Integer;
	begin
	   declare A : Worker (1); B : Worker (2); C : Worker (3); D : Worker (4);
	   begin Counter.Full (Sum); Put_Line ("sum" & Sum'Image); end;
	   for I in 1 .. 1000 loop M.Include (I * 7919 mod 1009, I); end loop;
	   Put_Line (M.First_Element'Image & M.Last_Element'Image & M.Length'Image);
	   begin
	      declare G : Guard := (Ada.Finalization.Limited_Controlled with N => 1); begin
	         Sum := Deep (0);
	      end;
	   exception when E : others =>
	      Put_Line (Exception_Name (E) & Exception_Message (E));
	      Put_Line (Boolean'Image (GNAT.Traceback.Symbolic.Symbolic_Traceback (E)'Length > 0));
	   end;
	   begin Sum := Endless (1);
	   exception when Storage_Error => Put_Line ("storage error"); end;
	   begin Sum := Integer'Value ("12x");
	   exception when E : Constraint_Error => Put_Line (Exception_Message (E)); end;
	   declare Zero : Integer := M.First_Element - M.First_Element; begin Sum := 5 / Zero;
	   exception when E : Constraint_Error => Put_Line (Exception_Message (E)); end;
	   raise Overrun with "last";
	end Moved;
	END
}
build() { source_text && gnatmake-12 -q -O2 -fstack-check moved.adb -bargs -E && gnatmake-12 -q -f -O0 -g moved.adb -o moved_0 -bargs -Es; }
files() {
	built ada build || return
	with_libraries "$SOURCES/foreign/ada/moved" "$SOURCES/foreign/ada/moved_0" "$(gcc-12 -print-prog-name=gnat1)" \
		"$(program gnatmake-12)" "$(program gnatbind-12)"
}
run() {
	"$SOURCES/foreign/ada/moved" 2>err; echo $?; grep raised err
	"$SOURCES/foreign/ada/moved_0" 2>err; echo $?; grep raised err
	source_text
	gnatmake-12 -q -O1 -g0 -gnatwa moved.adb 2>&1; sha256sum moved.o
	sed -i 's/Sum : Integer;/Sum : Integr;/' moved.adb; touch -d 2030-01-01 moved.adb; gnatmake-12 -q moved.adb 2>&1
}
