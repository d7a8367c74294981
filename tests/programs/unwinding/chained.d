/* chained.d - an exception that is thrown while another one is on its way joins it, in the function
 * where both are caught
 *
 * The personality routine of GDC joins them if both are for the same exception table, that is for
 * the same function; two of different functions stay two.
 */
import std.stdio, core.thread;

class Mine : Exception {
	int n;
	this(int n, string m) { super(m); this.n = n; }
}

int total;

int deep(int n)
{
	scope (exit) total += n;
	if (n == 0)
		throw new Mine(7, "deep");
	return deep(n - 1) + 1;
}

void tell(string where, Throwable e)
{
	write(where, ":");
	for (Throwable t = e; t; t = t.next)
		write(" ", typeid(t).name, " ", t.msg);
	writeln;
}

/* Both are caught where the second one was thrown. */
void here(int n)
{
	try {
		try
			deep(n);
		finally {
			if (n != 1)
				throw new Exception("second");
		}
	} catch (Mine e) {
		tell("here mine", e);
	} catch (Exception e) {
		tell("here", e);
	}
	try {
		try
			deep(n + 1);
		catch (Mine e) {
			tell("between", e);
			throw new Exception("third");
		} finally {
			if (n % 2)
				throw new Exception("fourth");
		}
	} catch (Exception e) {
		tell("there", e);
	}
	try
		deep(1);
	catch (Mine e)
		tell("afterwards", e);
}

/* Caught in a function that is called while another one is on its way. */
void inner(int n)
{
	try {
		if (n > 1)
			deep(1);
		total++;
	} catch (Mine e) {
		tell("inner", e);
	}
}

/* The second one is of a function that the first one leaves. */
void leave(int n)
{
	try
		deep(n);
	finally {
		inner(n);
		if (n > 2)
			throw new Exception("leaving");
	}
}

void main()
{
	foreach (n; 0 .. 4) {
		here(n);
		try
			leave(n);
		catch (Exception e)
			tell("main", e);
	}
	auto fiber = new Fiber({ here(2); Fiber.yield(); deep(2); });
	fiber.call();
	try
		fiber.call();
	catch (Mine e)
		tell("out of a fiber", e);
	auto thread = new Thread({ here(3); leave(4); });
	thread.start();
	try
		thread.join();
	catch (Exception e)
		tell("out of a thread", e);
	writeln(total);
}
