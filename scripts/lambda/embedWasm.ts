import { brotliCompressSync, constants } from 'node:zlib';
import { readLibsecp256k1 } from '@prism-gateway/gateway/bundling';
import type { Plugin } from 'esbuild';
import { blankSigningTable } from './blankSigningTable.ts';

const best = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };

/** Puts libsecp256k1 into the bundle: the function that reads it from its package gives way to one that unpacks it. */
export const embedWasm: Plugin = {
  name: 'embed-wasm',
  setup({ onLoad }) {
    onLoad({ filter: /\/drivers\/secp256k1\/readLibsecp256k1\.ts$/ }, () => {
      const packed = brotliCompressSync(blankSigningTable(readLibsecp256k1()), best).toString('base64');
      return {
        loader: 'js',
        contents: `import { brotliDecompressSync } from 'node:zlib';
          export const readLibsecp256k1 = () =>
            Uint8Array.from(brotliDecompressSync(Buffer.from('${packed}', 'base64')));`,
      };
    });
  },
};
