import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFunction, type FunctionBundle } from '../../../../scripts/lambda/bundleFunction.ts';

/** A function built for a test, in a folder of its own. */
export interface BuiltFunction extends FunctionBundle, AsyncDisposable {
  /** Folder of the module and what lies beside it. */
  readonly folder: string;
}

/** Builds the function as `npx prism build:lambda` does. */
export async function buildFunction(): Promise<BuiltFunction> {
  const folder = await mkdtemp(join(tmpdir(), 'prism-function-'));
  const code = join(folder, 'code');
  const bundle = await bundleFunction({ code, maps: join(folder, 'maps') });
  return {
    ...bundle,
    folder: code,
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}
