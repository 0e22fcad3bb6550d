import { transformSync } from 'esbuild';

/** Whole specifiers only, of what lies beside: imports, and URLs of worker threads' files. */
const OWN_MODULE = /(['"])(\.{1,2}\/[^'"\n]*)\.ts\1/g;

/**
 * Writes the commands in a text as somebody types them who has no repository: `npm run backup -- FOLDER` becomes `npx prism backup FOLDER`.
 *
 * @param programs - names of those that there are; other commands stay
 */
export function rewordCommands(programs: readonly string[], text: string): string {
  const names = [...programs].sort((one, other) => other.length - one.length).join('|');
  const command = new RegExp(`npm (?:run (?:--silent )?(?<name>${names})|start)(?![\\w:-])(?: --(?= ))?`, 'g');
  return text.replaceAll(command, (_, name: string | undefined) => `npx prism ${name ?? 'start'}`);
}

/**
 * Compiles one module for Node alone: below `node_modules` Node strips no types.
 *
 * @param programs - names of the programs that the texts may tell to run
 * @param source - TypeScript
 * @returns JavaScript that imports `./x.js` where the source has `./x.ts`
 */
export function compileModule(programs: readonly string[], source: string): string {
  const { code } = transformSync(source, {
    loader: 'ts',
    target: 'node24',
    charset: 'utf8',
    // As Node does it: what is imported is loaded, used or not.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  return rewordCommands(programs, code.replaceAll(OWN_MODULE, '$1$2.js$1'));
}
