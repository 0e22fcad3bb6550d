import { expect, test } from 'vitest';
import { compileModule, rewordCommands } from './compileModule.ts';

test.each([
  ['npm run backup -- FOLDER', 'npx prism backup FOLDER'],
  ['npm run --silent token -- alice', 'npx prism token alice'],
  ['npm start; see npm start -- --help.', 'npx prism start; see npx prism start --help.'],
  ['npm run doctor          with it', 'npx prism doctor          with it'],
  ['npm run gas-monitor', 'npx prism gas-monitor'],
  ['npm run token-like, npm run deploy makes them', 'npm run token-like, npm run deploy makes them'],
])('%s', (text, reworded) => {
  expect(rewordCommands(['backup', 'token', 'doctor', 'gas-monitor'], text)).toBe(reworded);
});

test('types go, own modules are those that were compiled, and nothing else that looks like one', () => {
  const source = `import { a } from './a.ts';
export const file: URL = new URL('../b/c.ts', import.meta.url);
export const load = async () => (await import('./d.ts')).e;
export const other = 'e.ts';
export const used: number = a;
`;
  expect(compileModule([], source)).toBe(`import { a } from "./a.js";
export const file = new URL("../b/c.js", import.meta.url);
export const load = async () => (await import("./d.js")).e;
export const other = "e.ts";
export const used = a;
`);
});
