import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CONTRACTS = 'packages/contracts';

/** Which bytecodes a Solidity file is part of, by the beginning of its path below `solidity/`. */
const BYTECODES: Readonly<Record<string, readonly string[]>> = {
  Forwarder: ['forwarder'],
  'forwarder/': ['forwarder'],
  'cloud/EntryCalls': ['forwarder', 'cloud'],
  'cloud/Prism': ['cloud'],
  'core/': ['core'],
  'tokens/CreditToken': ['creditToken'],
  'tokens/Exchange': ['exchange'],
  'tokens/Payouts': ['payouts'],
};

/**
 * Compiles the contracts that a spoilt Solidity file is part of.
 *
 * @param copy - of the repository
 * @param file - spoilt, from the root
 * @returns whether it compiles, and what brings the bytecodes of before back
 */
export async function compileMutant(
  copy: string,
  file: string,
): Promise<{ readonly isCompiled: boolean; readonly restore: () => void }> {
  const path = file.slice(`${CONTRACTS}/solidity/`.length);
  const [, names = []] = Object.entries(BYTECODES).find(([begin]) => path.startsWith(begin)) ?? [];
  const kept = names.map((name) => {
    const generated = join(copy, CONTRACTS, `src/generated/${name}Bytecode.ts`);
    return { generated, text: readFileSync(generated, 'utf8') };
  });
  const script = join(copy, CONTRACTS, 'scripts/compileBytecode.ts');
  const child = spawn(process.execPath, [script, ...names], { cwd: copy, stdio: 'ignore' });
  const [status] = await once(child, 'close');
  return {
    isCompiled: names.length > 0 && status === 0,
    restore: () => kept.forEach(({ generated, text }) => void writeFileSync(generated, text)),
  };
}
