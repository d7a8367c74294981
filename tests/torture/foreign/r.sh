# r.sh - R over OpenBLAS: conditions, closures, byte compiler, models, its own regression tests of base
packages="r-base-core"
files() { elves_of r-base-core; with_libraries /usr/lib/R/bin/exec/R /usr/lib/R/lib/libR.so; }
run() {
	cat >p.R <<-'END'
	fib <- function(n) if (n < 2) n else fib(n - 1) + fib(n - 2); print(fib(20))
	print(tryCatch(stop("x"), error = function(e) conditionMessage(e), finally = cat("finally\n")))
	print(withCallingHandlers(tryCatch({ warning("w"); 1 }, warning = function(w) 2))); f <- function(n) f(n + 1); print(class(try(f(1), silent = TRUE)))
	set.seed(7); x <- matrix(rnorm(2500), 50); print(signif(svd(x)$d[1:5], 8)); print(signif(solve(x)[1:3, 1], 8)); print(signif(det(x), 8)); print(signif(eigen(crossprod(x))$values[1:3], 8))
	d <- data.frame(g = rep(letters[1:5], 40), y = rnorm(200), z = runif(200)); print(summary(lm(y ~ z + g, d))); print(anova(aov(y ~ g, d))); print(aggregate(y ~ g, d, mean))
	print(optim(c(-1.2, 1), function(p) 100 * (p[2] - p[1]^2)^2 + (1 - p[1])^2, method = "BFGS")$par); print(integrate(dnorm, -1.96, 1.96)); print(regmatches("a12b345", gregexpr("[0-9]+", "a12b345", perl = TRUE)))
	print(nls(y ~ a + b * z, d, start = list(a = 0, b = 1))); print(fft(1:8)); print(kmeans(x, 3, nstart = 5)$size); print(sprintf("%5.2f|%s", pi, "x")); print(unclass(as.Date("2024-02-29") + 365)); print(strsplit("a,b;c", "[,;]")); gc(); print(object.size(1:10)); print(parse(text = "f(x)[1]")); invisible(compiler::cmpfun(fib)); save(d, file = "d.rda"); load("d.rda"); print(digest <- unname(tools::md5sum("p.R"))); glm(I(y > 0) ~ z, binomial, d); q(status = 3)
	END
	Rscript --vanilla p.R 2>&1; echo $?
	Rscript --vanilla -e 'tools::Rd2txt_options(underline_titles=FALSE); example(glm, ask = FALSE, echo = FALSE); demo("recursion", package = "base", ask = FALSE)' 2>&1 | tail -n 40
	Rscript --vanilla -e 'stop("last")' 2>&1; echo $?
}
