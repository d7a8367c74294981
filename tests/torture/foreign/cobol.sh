# cobol.sh - GnuCOBOL: a program by cobc, which calls by name, and ends in a run-time error
packages=gnucobol3
build() {
	cat >moved.cob <<-'END'
	       IDENTIFICATION DIVISION.
	       PROGRAM-ID. moved.
	       DATA DIVISION.
	       WORKING-STORAGE SECTION.
	       01 A PIC S9(18)V99 COMP-3 VALUE 1.
	       01 I PIC 9(6). 01 N PIC 9(5).
	       01 T. 02 E PIC X(5) OCCURS 20 INDEXED BY X.
	       01 S PIC X(40).
	       01 P PIC X(8) VALUE "nowhere".
	       PROCEDURE DIVISION.
	           PERFORM VARYING I FROM 1 BY 1 UNTIL I > 50000
	             COMPUTE A = FUNCTION MOD(A * 31 + I, 1000003)
	           END-PERFORM DISPLAY A.
	           PERFORM VARYING I FROM 1 BY 1 UNTIL I > 20
	             COMPUTE N = FUNCTION MOD(I * 37, 53) MOVE N TO E(I)
	           END-PERFORM. SORT E DESCENDING KEY E. DISPLAY T.
	           STRING "ab" DELIMITED BY SIZE "c d" DELIMITED BY " " INTO S.
	           INSPECT S REPLACING ALL "b" BY "x". DISPLAY S.
	           EVALUATE TRUE WHEN A > 50 DISPLAY "big" WHEN OTHER DISPLAY "small" END-EVALUATE.
	           DISPLAY FUNCTION SQRT(2) FUNCTION FACTORIAL(15).
	           DIVIDE A BY 0 GIVING A ON SIZE ERROR DISPLAY "zero" END-DIVIDE.
	           MOVE 25 TO I. CALL P ON EXCEPTION DISPLAY "none" END-CALL.
	           DISPLAY E(I). STOP RUN RETURNING 3.
	END
	cobc -x -free -debug -O2 moved.cob -o moved && cobc -x -free moved.cob -o moved_0
}
files() { built cobol build || return; with_libraries "$SOURCES"/foreign/cobol/moved{,_0} "$(program cobc)"; }
run() {
	local p
	for p in moved moved_0; do "$SOURCES/foreign/cobol/$p" 2>&1; echo "$p $?"; done
	cobc -C -free -O "$SOURCES/foreign/cobol/moved.cob" -o m.c 2>&1; grep -v -e '/\*.*20[0-9][0-9]' -e cob_u8 m.c | sha256sum
}
