import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Takes Node's own modules by `process.getBuiltinModule`. An import makes a module of names out of each, for which it reads all of
 * the module's getters: `node:util` and `node:process` alone then load a dozen parts of Node that nobody asked for.
 */
export const requireBuiltins: Plugin = {
  name: 'require-builtins',
  setup({ onResolve, onLoad }) {
    const namespace = 'builtin';
    onResolve({ filter: /^(?:node:|[a-z])/ }, ({ path }) => (isBuiltin(path) ? { path, namespace } : undefined));
    onLoad({ filter: /./, namespace }, ({ path }) => ({
      loader: 'js',
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};
