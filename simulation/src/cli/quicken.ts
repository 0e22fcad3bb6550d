import { registerHooks } from 'node:module';

/** viem's keccak-256, by the JavaScript of @noble/hashes: a tenth of a busy world's time. */
const VIEM = /\/viem\/_esm\/utils\/hash\/keccak256\.js$/;
const SLOW = "import { keccak_256 } from '@noble/hashes/sha3';";
const QUICK = `import { loadKeccak256 } from '${new URL('../../../packages/node/src/crypto/index.ts', import.meta.url).href}';
const keccak_256 = await loadKeccak256();`;

/** Has viem, if it is loaded from now on, hash with the wasm that our programs hash with. */
export function quicken(): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!VIEM.test(url)) return loaded;
      return { ...loaded, source: String(loaded.source).replace(SLOW, QUICK) };
    },
  });
}
