// @ts-check
import { html, useEffect, useState } from './preact.js';

/**
 * Every view has an address below the console's own: `requests/ID`, `requests?status=failed`. The page is at `/console`, or below the
 * proxy's prefix.
 */
const base = new URL('.', import.meta.url).pathname;

/** @typedef {{ view: string, id: string, query: URLSearchParams }} Route */

// The page's own files were named from the address that it began at; it has others later.
for (const link of document.querySelectorAll('link')) link.href = String(link.href);

/** @type {Set<() => void>} */
const listeners = new Set();
const tellAll = () => {
  for (const listener of [...listeners]) listener();
};
addEventListener('popstate', tellAll);

/** Where the page is now. @returns {Route} */
export function readRoute() {
  const rest = location.pathname.startsWith(base) ? location.pathname.slice(base.length) : '';
  const [view = '', id = ''] = rest.split('/');
  return { view: view || 'overview', id: decodeURIComponent(id), query: new URLSearchParams(location.search) };
}

/**
 * Writes the address of a view.
 *
 * @param {string} view @param {{ id?: string, query?: Record<string, string | undefined> }} [more]
 */
export function addressOf(view, { id, query = {} } = {}) {
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  const path = view === 'overview' ? base.slice(0, -1) : `${base}${view}${id ? `/${encodeURIComponent(id)}` : ''}`;
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** Goes to an address. @param {string} address @param {{ replaces?: boolean }} [how] */
export function go(address, { replaces = false } = {}) {
  if (replaces) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  tellAll();
  if (!replaces) scrollTo(0, 0);
}

/** The route, as it changes. */
export function useRoute() {
  const [route, setRoute] = useState(readRoute());
  useEffect(() => {
    const read = () => setRoute(readRoute());
    listeners.add(read);
    return () => void listeners.delete(read);
  }, []);
  return route;
}

/**
 * A link to a view: a click stays in the page, and with a modifier it opens a tab as everywhere.
 *
 * @param {{ to: string, children?: unknown, [name: string]: unknown }} props
 */
export function Link({ to, children, ...rest }) {
  const follow = (/** @type {MouseEvent} */ event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return html`<a href=${to} onClick=${follow} ...${rest}>${children}</a>`;
}
