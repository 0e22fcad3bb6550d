import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGateway } from '@prism-gateway/testing';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { createApp } from './rig/createApp.ts';

const app = createApp();
afterAll(() => app[Symbol.dispose]());

it('a client that openapi-typescript generates is strict, and makes nine kinds of call', async () => {
  const gateway = await startGateway();
  onTestFinished(async () => void (await gateway.stop()));
  writeFileSync(join(app.path, 'package.json'), '{"name":"generated","type":"module"}');
  const compilerOptions = {
    ...{ target: 'es2023', lib: ['es2023', 'dom'], module: 'nodenext', types: ['node'], outDir: 'dist' },
    ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
  };
  writeFileSync(join(app.path, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['generated.ts'] }));
  copyFileSync(join(import.meta.dirname, 'apps/generated.ts'), join(app.path, 'generated.ts'));
  writeFileSync(join(app.path, 'openapi.json'), await (await fetch(`${gateway.url}/openapi.json`)).text());
  const packages = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3', '@types/node@24.19.2'];
  await app.install(...packages);
  await app.run('node', 'node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'api.d.ts');
  expect(await app.run('node', 'node_modules/typescript/bin/tsc', '-p', '.')).toBe('');
  const printed = await app.run(process.execPath, 'dist/generated.js', gateway.url, 'change-me-admin-key');
  expect(JSON.parse(printed)).toEqual({
    ...{ method: 'GET', status: 'pending', payload: expect.stringMatching(/^0x/), count: 1 },
    ...{ isListed: true, claimed: 'processing', conflict: 'REQUEST_ALREADY_CLAIMED' },
    ...{ reported: ['failed'], version: 16 },
  });
});
