"use strict";
// Search, sort and paging of the standings; without scripts the page shows every row.
(() => {
  const table = document.querySelector("#standings table");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const tools = document.querySelector("#tools");
  const search = document.querySelector("#search");
  const size = document.querySelector("#size");
  const before = document.querySelector("#before");
  const after = document.querySelector("#after");
  const told = document.querySelector("#told");
  let page = 0;
  let found = rows;
  tools.hidden = false;

  const keys = (row, column) => row.cells[column].dataset.key ?? row.cells[column].textContent;

  function show() {
    const wanted = search.value.trim().toLocaleLowerCase();
    found = rows.filter((row) => row.dataset.name.includes(wanted));
    const most = Number(size.value) || found.length || 1;
    const pages = Math.max(1, Math.ceil(found.length / most));
    page = Math.min(page, pages - 1);
    const shown = new Set(found.slice(page * most, (page + 1) * most));
    for (const row of rows) row.hidden = !shown.has(row);
    before.disabled = page === 0;
    after.disabled = page >= pages - 1;
    const first = found.length ? page * most + 1 : 0;
    told.textContent = `${first} to ${page * most + shown.size} of ${found.length} bots`;
  }

  function sort(header, column) {
    const isUp = header.getAttribute("aria-sort") === "descending" ||
      (!header.hasAttribute("aria-sort") && header.dataset.first === "up");
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", isUp ? "ascending" : "descending");
    const isText = header.classList.contains("name");
    const order = (a, b) => isText ? keys(a, column).localeCompare(keys(b, column))
      : (parseFloat(keys(a, column)) || 0) - (parseFloat(keys(b, column)) || 0);
    rows.sort((a, b) => isUp ? order(a, b) : order(b, a));
    body.append(...rows);
    page = 0;
    show();
  }

  Array.from(table.tHead.rows[0].cells).forEach((header, column) => {
    const button = header.querySelector("button");
    if (button) button.addEventListener("click", () => sort(header, column));
  });
  search.addEventListener("input", () => { page = 0; show(); });
  size.addEventListener("change", () => { page = 0; show(); });
  before.addEventListener("click", () => { page -= 1; show(); });
  after.addEventListener("click", () => { page += 1; show(); });
  show();
})();
