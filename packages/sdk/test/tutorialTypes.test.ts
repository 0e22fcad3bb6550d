import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

it('the tutorial typechecks as it stands, block after block', async () => {
  const text = await readFile(join(ROOT, 'docs/sdk.md'), 'utf8');
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block]) => block);
  const folder = await mkdtemp(join(tmpdir(), 'tutorial-'));
  try {
    const config = { extends: join(ROOT, 'tsconfig.json'), include: [], files: ['tutorial.ts'] };
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    await writeFile(join(folder, 'tutorial.ts'), blocks.join('\n'));
    const { stdout, status } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  } finally {
    await rm(folder, { recursive: true });
  }
});
