# ocamlrun.sh - OCaml's bytecode interpreter, whose instructions are distances of labels from a label: top level, compiler
packages="ocaml-interp ocaml"
files() { with_libraries "$(program ocamlrun)"; elves_of ocaml-base ocaml-interp | grep -e stublibs -e ocamlrun; elves_of ocaml | grep -e libcamlrun -e libasmrun; }
run() {
	cat >p.ml <<-'END'
	let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2);; exception Mine of int;; let rec deep n = if n = 0 then raise (Mine 7) else 1 + deep (n - 1);; let rec endless n = 1 + endless n;;
	let () = Printf.printf "%d\n" (fib 24); (try ignore (deep 100) with Mine n -> Printf.printf "%d\n" n); (try ignore (endless 1) with Stack_overflow -> print_endline "deep"); (try ignore (List.hd []) with Failure s -> print_endline s); (try ignore (1 / (fib 1 - 1)) with Division_by_zero -> print_endline "zero");
	let h = Hashtbl.create 9 in for i = 0 to 20000 do Hashtbl.replace h (i * 7919 mod 5003) i done; Printf.printf "%d %g\n" (Hashtbl.length h) (sqrt 2.); Gc.full_major (); Gc.compact (); let b = Marshal.to_string (h, fib) [Marshal.Closures] in let (g, f : (int, int) Hashtbl.t * (int -> int)) = Marshal.from_string b 0 in Printf.printf "%d %d\n" (Hashtbl.length g) (f 10); print_endline (String.concat "," (List.map string_of_int (List.sort compare [3; 1; 2]))); Printf.printf "%s %s\n" (Digest.to_hex (Digest.string "x")) (Int64.to_string (Int64.div Int64.min_int 7L));
	let o = object method x = 5 method y = 6 end in Printf.printf "%d\n" (o#x + o#y); let m = match Sys.argv with [| _ |] -> `A | _ -> `B 3 in (match m with `A -> print_endline "a" | `B _ -> print_endline "b"); Lazy.force (lazy (print_endline "lazy")); at_exit (fun () -> print_endline "exit"); ignore (deep 3)
	END
	ocaml p.ml 2>&1; echo $?; ocamlc.byte -o p.byte p.ml 2>&1 && ocamlrun p.byte; echo $?; OCAMLRUNPARAM=b ocamlrun p.byte 2>&1 | tail -n 3; ocamlc.byte -custom -o p.custom p.ml 2>&1; ./p.custom; echo $?; OCAMLRUNPARAM=v=0x400 ocamlrun p.byte 2>&1 | grep -a -e minor_col -e compactions; ocamlc.byte -dinstr p.ml 2>&1 | sha256sum; echo 'let x : int = "a"' >e.ml; ocamlc.byte e.ml 2>&1; echo 'let f x = x * 2;; f 5;; f "a";; raise Not_found;;' | ocaml 2>&1 | tail -n 12; ocamlrun /bin/true 2>&1; echo $?
}
