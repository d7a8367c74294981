# fortran.sh - a program by gfortran: formats, internal procedures by pointer, IEEE, a run-time error with its backtrace
packages=gfortran-12
build() {
	cat >moved.f90 <<-'END'
	module shapes
	  use, intrinsic :: iso_fortran_env
	  type, abstract :: shape
	  contains
	    procedure(area_of), deferred :: area
	  end type
	  type, extends(shape) :: square
	    real(real64) :: a
	  contains
	    procedure :: area => square_area
	    final :: gone
	  end type
	  abstract interface
	    pure function area_of(s) result(r)
	      import; class(shape), intent(in) :: s; real(real64) :: r
	    end function
	  end interface
	contains
	  subroutine gone(s); type(square), intent(inout) :: s; print *, 'gone', s%a; end subroutine
	  pure function square_area(s) result(r)
	    class(square), intent(in) :: s; real(real64) :: r; r = s%a * s%a
	  end function
	  recursive function integrate(f, a, b, n) result(r)
	    interface; function f(x); import; real(real64) :: f; real(real64), intent(in) :: x; end function; end interface
	    real(real64) :: a, b, r; integer :: n
	    if (n == 0) then; r = (b - a) * f((a + b) / 2)
	    else; r = integrate(f, a, (a + b) / 2, n - 1) + integrate(f, (a + b) / 2, b, n - 1); end if
	  end function
	end module
	program moved
	  use shapes; use, intrinsic :: ieee_arithmetic; use, intrinsic :: ieee_exceptions
	  class(shape), allocatable :: s; real(real64) :: w, m(60, 60), v(60); real(real128) :: q; complex(real64) :: z
	  integer :: i, k, ios; character(40) :: line; logical :: flag
	  allocate(s, source=square(3d0)); print '(F0.3)', s%area(); deallocate(s)
	  w = 2; print '(ES22.14)', integrate(inner, 0d0, 1d0, 14)
	  do i = 1, 60; m(:, i) = [(1d0 / (i + k), k = 1, 60)]; v(i) = i; end do
	  print '(3ES14.6)', sum(matmul(m, v)), maxval(matmul(m, transpose(m))), norm2(v)
	  q = 1; q = atan(q) * 4; print *, q; z = sqrt((-1d0, 1d0)); print *, z
	  write(line, '(B16.16,Z8,O8)') 1234, 5678, 91; print *, line
	  line = '1.5 x'; read(line, *, iostat=ios) w, w; print *, ios; line = '12,,"a b"'; read(line, *) i, ios, line; print *, i, ios
	  call ieee_set_flag(ieee_all, .false.); w = ieee_value(w, ieee_positive_inf); print *, w - w, ieee_is_nan(w - w)
	  call ieee_get_flag(ieee_invalid, flag); print *, flag
	  open(10, status='scratch', form='unformatted', access='stream'); write(10) m; rewind(10); read(10) m; print *, m(7, 9)
	  print *, i; call fail(i)
	contains
	  function inner(x); real(real64) :: inner; real(real64), intent(in) :: x; inner = exp(-x * x) * w; end function
	  subroutine fail(n); integer :: n; real, allocatable :: a(:); allocate(a(n)); print *, size(a); deallocate(a); deallocate(a); end subroutine
	end program
	END
	gfortran-12 -ffree-line-length-none -O2 -std=f2018 -fall-intrinsics moved.f90 -o moved && gfortran-12 -ffree-line-length-none -g -O0 -fcheck=all moved.f90 -o moved_0
}
files() { built fortran build || return; with_libraries "$SOURCES"/foreign/fortran/moved{,_0} "$(gcc-12 -print-prog-name=f951)"; }
run() {
	local p
	for p in moved moved_0; do
		"$SOURCES/foreign/fortran/$p" 2>err; echo $?; grep -i error err
	done
	cp "$SOURCES/foreign/fortran/moved.f90" . && gfortran-12 -ffree-line-length-none -O3 -S -ffast-math moved.f90 && sha256sum moved.s
}
