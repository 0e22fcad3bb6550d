/** Compiles the contracts and writes their ABIs and bytecodes: `node packages/contracts/scripts/compile.ts`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { generateSources } from './generateSources.ts';

for (const { path, text } of generateSources()) {
  const file = new URL(`../${path}`, import.meta.url);
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text);
  console.log(`${path}: ${text.length} characters`);
}
