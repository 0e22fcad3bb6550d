import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const packageFolder = new URL('../', import.meta.url);
const readVersion = (name: string): string => {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return `${name}@${(JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version}`;
};

/**
 * Hashes whatever the generated files depend on: the Solidity sources, the compiler and its settings, OpenZeppelin.
 *
 * @returns SHA-256 as hex
 */
export function hashSources(): string {
  const solidity = readdirSync(new URL('solidity/', packageFolder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.sol'))
    .map((path) => `solidity/${path}`);
  const scripts = ['scripts/compileSolidity.ts', 'scripts/generateSources.ts'];
  const hash = createHash('sha256');
  for (const path of [...solidity, ...scripts].sort()) {
    hash
      .update(`${path}\n`)
      .update(readFileSync(new URL(path, packageFolder)))
      .update('\n');
  }
  return hash.update(`${readVersion('solc')} ${readVersion('@openzeppelin/contracts')}`).digest('hex');
}
