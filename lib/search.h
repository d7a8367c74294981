/* search.h - binary search */
#ifndef LIB_SEARCH_H
#define LIB_SEARCH_H

/* The first index in [lo, hi) for which `before` is false, or hi if there is none.  `before` is
 * an expression in the index `i`, true up to some index and false from there on:
 *
 *	uint32_t k = search_first(i, 0, n, v[i].addr <= addr);
 *
 * gives the number of items that begin at addr or before it.  The result has hi's type. */
#define search_first(i, lo, hi, before) __extension__ ({		\
	__typeof__((hi) + 0) lo_ = (lo), hi_ = (hi);			\
									\
	while (lo_ < hi_) {						\
		__typeof__(lo_) i = lo_ + (hi_ - lo_) / 2;		\
									\
		if (before)						\
			lo_ = i + 1;					\
		else							\
			hi_ = i;					\
	}								\
	lo_;								\
})

#endif
