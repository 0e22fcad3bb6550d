import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createApp } from './rig/createApp.ts';
import { OLD } from './rig/setUp.ts';

const NEW = { node: process.version, viem: '2.57.1' };

const apps = { old: createApp(inject('oldApp')), new: createApp() };
afterAll(() => apps.new[Symbol.dispose]());

beforeAll(async () => {
  writeFileSync(join(apps.new.path, 'package.json'), '{"name":"new","type":"module"}');
  for (const { path } of Object.values(apps)) {
    for (const file of ['uses.ts', 'submit.mjs'])
      copyFileSync(join(import.meta.dirname, 'apps', file), join(path, file));
  }
  const compilers = ['typescript-5@npm:typescript@5.9.3', 'typescript-7@npm:typescript@7.0.2'];
  await apps.new.install(`viem@${NEW.viem}`, ...compilers, ...inject('tarballs'));
});

it.each([
  { app: apps.old, binary: 'node_modules/node/bin/node', node: `v${OLD.node}`, user: 1 },
  { app: apps.new, binary: process.execPath, node: NEW.node, user: 2 },
])('submits a write from a plain module on Node $node', async ({ app, binary, node, user }) => {
  const printed = await app.run(binary, 'submit.mjs', JSON.stringify(inject('settings')[user]));
  expect(JSON.parse(printed)).toEqual({ node, status: 'success', payload: '0x68656c6c6f' });
  expect(app.countCopies('viem')).toBe(1);
});

/** In one of them the declarations below ours are checked as well, viem's included: that alone takes as long as all the rest. */
const MODULES = [
  { compiler: 'typescript-7', moduleResolution: 'bundler', module: 'esnext', skipLibCheck: true },
  { compiler: 'typescript-7', moduleResolution: 'node16', module: 'node16', skipLibCheck: true },
  { compiler: 'typescript-7', moduleResolution: 'nodenext', module: 'nodenext', skipLibCheck: false },
  { compiler: 'typescript-5', moduleResolution: 'nodenext', module: 'nodenext', skipLibCheck: true },
];

it.each(MODULES)('has types for $moduleResolution in $compiler', async ({ compiler, ...how }) => {
  const name = `tsconfig.${compiler}.${how.moduleResolution}.json`;
  const compilerOptions = {
    ...{ target: 'es2023', lib: ['es2023', 'dom'], types: [] },
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true },
    ...how,
  };
  const { path, run } = apps.new;
  writeFileSync(join(path, name), JSON.stringify({ compilerOptions, files: ['uses.ts'] }));
  expect(await run('node', `node_modules/${compiler}/bin/tsc`, '-p', name)).toBe('');
});

it('is installed by its tarball alone', async () => {
  using alone = createApp();
  writeFileSync(join(alone.path, 'package.json'), '{"name":"alone","type":"module"}');
  await alone.install(inject('tarballs').find((path) => path.includes('sdk')) ?? '');
  copyFileSync(join(import.meta.dirname, 'apps/submit.mjs'), join(alone.path, 'submit.mjs'));
  const code =
    "import { createGatewayClient, createUserClient, quoteFee } from '@prism-gateway/sdk'; console.log(typeof createUserClient, typeof quoteFee, typeof createGatewayClient)";
  expect(await alone.run(process.execPath, '--input-type=module', '-e', code)).toBe('function function function\n');
});
