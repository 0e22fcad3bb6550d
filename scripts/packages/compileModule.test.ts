import { expect, test } from 'vitest';
import { compileModule } from './compileModule.ts';

test('types go, own modules are those that were compiled, and nothing else that looks like one', () => {
  const source = `import { a } from './a.ts';
export const file: URL = new URL('../b/c.ts', import.meta.url);
export const load = async () => (await import('./d.ts')).e;
export const other = 'e.ts';
export const used: number = a;
`;
  expect(compileModule(source)).toBe(`import { a } from "./a.js";
export const file = new URL("../b/c.js", import.meta.url);
export const load = async () => (await import("./d.js")).e;
export const other = "e.ts";
export const used = a;
`);
});
