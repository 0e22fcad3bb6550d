import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/**
 * Makes the tarball of the operator's commands: one file of JavaScript without dependencies, for Node 20 and later.
 *
 * @param root - the repository
 * @param destination - folder that the tarball goes to; made if it is missing
 * @returns path of the tarball
 */
export function packCli(root: string, destination: string): string {
  mkdirSync(destination, { recursive: true });
  mkdirSync(join(root, 'dist'), { recursive: true });
  const folder = mkdtempSync(join(root, 'dist/cli-'));
  try {
    const source = join(root, 'packages/cli');
    // Ours.
    const { name, version, description } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
    const outfile = join(folder, 'prism.mjs');
    const banner = { js: '#!/usr/bin/env node' };
    const entry = join(source, 'src/entry/cli.ts');
    buildSync({
      entryPoints: [entry],
      outfile,
      banner,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
    });
    chmodSync(outfile, 0o755);
    copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    const manifest = { name, version, description, license: 'MIT', type: 'module', bin: { prism: 'prism.mjs' } };
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, engines: { node: '>=20' } }));
    const args = ['pack', '--json', '--silent', '--pack-destination', destination];
    const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }));
    return join(destination, filename);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
