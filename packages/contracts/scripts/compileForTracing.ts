/**
 * Compiles the contracts without the optimiser, so that each instruction has its place in the source, writes their bytecodes, and prints what
 * the compiler says of them as JSON: `node packages/contracts/scripts/compileForTracing.ts`. For a copy of the repository.
 */
import { writeFileSync } from 'node:fs';
import { askCompiler, SETTINGS } from './compileSolidity.ts';
import { CONTRACTS } from './generateSources.ts';

const output = askCompiler(CONTRACTS, {
  ...SETTINGS,
  optimizer: { enabled: false },
  outputSelection: {
    '*': {
      '': ['ast'],
      '*': ['bytecode', 'deployedBytecode'].flatMap((code) => [`evm.${code}.object`, `evm.${code}.sourceMap`]),
    },
  },
});
for (const { path, contract, name } of CONTRACTS) {
  const bytecode = output.contracts[path]?.[contract]?.evm.bytecode.object;
  const file = new URL(`../src/generated/${name}Bytecode.ts`, import.meta.url);
  writeFileSync(file, `export const ${name}Bytecode = '0x${bytecode}';\n`);
}
process.stdout.write(JSON.stringify(output));
