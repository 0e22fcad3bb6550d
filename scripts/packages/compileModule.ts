import { transformSync } from 'esbuild';

/** Whole specifiers only, of what lies beside: imports, and URLs of worker threads' files. */
const OWN_MODULE = /(['"])(\.{1,2}\/[^'"\n]*)\.ts\1/g;

/**
 * Compiles one module for Node alone: below `node_modules` Node strips no types.
 *
 * @param source - TypeScript
 * @returns JavaScript that imports `./x.js` where the source has `./x.ts`
 */
export function compileModule(source: string): string {
  const { code } = transformSync(source, {
    loader: 'ts',
    target: 'node24',
    charset: 'utf8',
    // As Node does it: what is imported is loaded, used or not.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  return code.replaceAll(OWN_MODULE, '$1$2.js$1');
}
