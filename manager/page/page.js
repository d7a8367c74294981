/*<![CDATA[*/
'use strict';
(() => {
	const search = document.getElementById('search'), found = document.getElementById('found');
	const rows = [...document.querySelectorAll('table.rows > tbody > tr')];
	const sections = [...document.querySelectorAll('main section')];
	let current = -1;

	document.getElementById('tools').hidden = false;

	/* Rows of tables, and functions by their names: what does not have the words is hidden. */
	function filter() {
		const words = search.value.toLowerCase().split(/\s+/).filter(w => w);
		const has = text => words.every(w => text.toLowerCase().includes(w));
		let n = 0;

		for (const row of rows) {
			row.hidden = words.length > 0 && !row.closest('section.fn') && !has(row.textContent);
			n += !row.hidden && !row.closest('section.fn');
		}
		for (const s of sections)
			if (s.classList.contains('fn'))
				s.hidden = words.length > 0 && !has(s.dataset.name);
		found.textContent = words.length ? n + (n === 1 ? ' row' : ' rows') : '';
	}

	function go(step) {
		const shown = sections.filter(s => !s.hidden);

		if (!shown.length)
			return;
		document.querySelector('section.current')?.classList.remove('current');
		current = Math.min(Math.max(current + step, 0), shown.length - 1);
		shown[current].classList.add('current');
		shown[current].scrollIntoView();
	}

	function key(e) {
		if (e.target === search) {
			if (e.key === 'Escape') {
				search.value = '';
				filter();
				search.blur();
			}
			return;
		}
		if (e.ctrlKey || e.altKey || e.metaKey)
			return;
		if (e.key === '/') {
			e.preventDefault();
			search.focus();
		} else if (e.key === 'Escape') {
			search.value = '';
			filter();
		} else if (e.key === 'j' || e.key === 'k') {
			go(e.key === 'j' ? 1 : -1);
		}
	}

	function value(row, column) {
		const cell = row.cells[column], v = cell?.dataset.v ?? cell?.textContent ?? '';

		return cell?.classList.contains('n') && v !== '' && !isNaN(v) ? Number(v) : v;
	}

	function sort(table, column, th) {
		const down = th.getAttribute('aria-sort') !== 'descending';
		const body = table.tBodies[0], list = [...body.rows];

		for (const other of table.tHead.rows[0].cells)
			other.removeAttribute('aria-sort');
		th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
		list.sort((a, b) => {
			const x = value(a, column), y = value(b, column);
			const c = typeof x === 'number' && typeof y === 'number' ? x - y
				: String(x).localeCompare(String(y));

			return down ? -c : c;
		});
		body.append(...list);
	}

	for (const table of document.querySelectorAll('table.rows'))
		[...table.tHead.rows[0].cells].forEach((th, column) => {
			const button = document.createElement('button');

			button.type = 'button';
			button.textContent = th.textContent;
			button.addEventListener('click', () => sort(table, column, th));
			th.replaceChildren(button);
		});
	search.addEventListener('input', filter);
	document.addEventListener('keydown', key);
})();
/*]]>*/
