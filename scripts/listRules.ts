/** `npx prism rules`: every rule of the specification with the tests that show it. */
import { join } from 'node:path';
import { findTests, listTexts, readRules } from './documents/rules.ts';

const root = join(import.meta.dirname, '..');
const shown = findTests(listTexts(root));
let part = '';
for (const rule of readRules(root).values()) {
  if (rule.part !== part) console.log(`\n# ${rule.part}`);
  part = rule.part;
  console.log(`\n${rule.id}  ${rule.text}`);
  for (const { path, title } of shown.filter(({ id }) => id === rule.id)) console.log(`    ${path}: ${title}`);
}
