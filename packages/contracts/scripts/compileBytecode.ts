/**
 * Compiles some contracts and writes their bytecodes alone: `node packages/contracts/scripts/compileBytecode.ts forwarder cloud`. For trials
 * that change no ABI, such as mutants: it takes a quarter of the time that all contracts take. Warnings are let pass.
 */
import { writeFileSync } from 'node:fs';
import { compileSolidity } from './compileSolidity.ts';
import { CONTRACTS } from './generateSources.ts';

const names = process.argv.slice(2);
const wanted = CONTRACTS.filter((source) => names.includes(source.name));
for (const { name, bytecode } of compileSolidity(wanted, 'errors')) {
  const file = new URL(`../src/generated/${name}Bytecode.ts`, import.meta.url);
  writeFileSync(file, `export const ${name}Bytecode = '${bytecode}';\n`);
}
