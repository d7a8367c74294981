# ocamlopt.sh - programs by OCaml's native compiler are refused; its plugins, which say nothing of that, and C that calls OCaml are not
packages="ocaml ocaml-nox"
build() {
	cat >plug.ml <<-'X'
	let l = ref []
	let rec deep n acc = if n = 0 then List.rev acc else deep (n - 1) (string_of_int n :: acc)
	let work n = l := deep n []; Gc.compact (); let s = String.concat "," !l in if n mod 3 = 0 then failwith (string_of_int (String.length s)) else s
	let kind x = match x with 0 -> "a" | 1 -> string_of_int x | 2 -> "c" | 3 -> String.make 3 'd' | 4 -> "e" | 5 -> work 4 | _ -> "z"
	let apply f x = let y = string_of_int x in Gc.minor (); f (y ^ "!")
	let () = Host.hook := (fun n -> try work n with Failure s -> "failed " ^ s);
		for i = 0 to 40 do print_string (kind (i mod 8)); print_string (apply (fun s -> s ^ kind (i mod 7)) i) done; print_newline ()
	X
	echo 'let hook : (int -> string) ref = ref (fun _ -> "none")' >host.ml
	cat >main.ml <<-'X'
	let () = (try Dynlink.loadfile_private Sys.argv.(1) with Dynlink.Error e -> print_string (Dynlink.error_message e));
		for i = 1 to 2000 do ignore (Sys.opaque_identity (!Host.hook i)); if i mod 400 = 0 then print_endline (string_of_int (Hashtbl.hash (!Host.hook i))) done
	X
	cat >cmain.c <<-'X'
	#include <caml/mlvalues.h>
	#include <caml/callback.h>
	#include <stdio.h>
	int main(int c, char **v) { caml_startup(v); for (int i = 1; i < 300; i++) { value r = caml_callback_exn(*caml_named_value("f"), Val_int(i)); if (Is_exception_result(r)) puts("exception"); else if (i % 50 == 0) puts(String_val(r)); } return 0; }
	X
	echo 'let () = Callback.register "f" (fun n -> if n mod 70 = 0 then raise Not_found; let s = String.concat ";" (List.init n string_of_int) in Gc.minor (); s)' >fcall.ml
	echo 'let () = print_string "small\n"; let a = Array.init 1000 string_of_int in Gc.full_major (); print_string a.(999)' >small.ml
	ocamlopt host.ml -c && ocamlopt -shared plug.ml -o plug.cmxs && ocamlopt -linkall dynlink.cmxa host.ml main.ml -o main &&
	ocamlopt -output-complete-obj fcall.ml -o called.o && gcc cmain.c called.o -I"$(ocamlc -where)" -o cmain -lm -ldl &&
	ocamlopt small.ml -o small && ocamlopt small.ml -ccopt -no-pie -o small_fixed && ocamlopt small.ml -ccopt -static -o small_static
}
files() {
	built ocamlopt build || return
	local at=$SOURCES/foreign/ocamlopt
	with_libraries "$at/main" "$at/cmain" "$at/small" "$at/small_fixed" "$at/small_static"
	echo "$at/plug.cmxs"; find "$(ocamlc -where)" -name '*.cmxs' -o -name 'dll*.so' | head -80
}
run() {
	local at=$SOURCES/foreign/ocamlopt p
	"$at/main" "$at/plug.cmxs"; echo $?
	for p in cmain small small_fixed small_static; do "$at/$p"; echo $?; done
}
