import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createApp } from './rig/createApp.ts';

const app = createApp();
afterAll(() => app[Symbol.dispose]());

beforeAll(async () => {
  writeFileSync(join(app.path, 'package.json'), JSON.stringify({ name: 'app', type: 'module' }));
  const compilers = ['typescript-5@npm:typescript@5.9.3', 'typescript-7@npm:typescript@7.0.2'];
  await app.install('viem@2.57.1', ...compilers, ...inject('tarballs'));
  copyFileSync(join(import.meta.dirname, 'apps/uses.ts'), join(app.path, 'uses.ts'));
});

/** In one of them the declarations below ours are checked as well, viem's included: that alone takes as long as all the rest. */
const MODULES = [
  { compiler: 'typescript-7', moduleResolution: 'bundler', module: 'esnext', skipLibCheck: true },
  { compiler: 'typescript-7', moduleResolution: 'node16', module: 'node16', skipLibCheck: true },
  { compiler: 'typescript-7', moduleResolution: 'nodenext', module: 'nodenext', skipLibCheck: false },
  { compiler: 'typescript-5', moduleResolution: 'bundler', module: 'esnext', skipLibCheck: true },
  { compiler: 'typescript-5', moduleResolution: 'node16', module: 'node16', skipLibCheck: true },
  { compiler: 'typescript-5', moduleResolution: 'nodenext', module: 'nodenext', skipLibCheck: true },
];

it.each(MODULES)('has types for $moduleResolution in $compiler', async ({ compiler, ...how }) => {
  const name = `tsconfig.${compiler}.${how.moduleResolution}.json`;
  const compilerOptions = {
    ...{ target: 'es2023', lib: ['es2023', 'dom'], types: [] },
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true },
    ...how,
  };
  writeFileSync(join(app.path, name), JSON.stringify({ compilerOptions, files: ['uses.ts'] }));
  expect(await app.run('node', `node_modules/${compiler}/bin/tsc`, '-p', name)).toBe('');
});
