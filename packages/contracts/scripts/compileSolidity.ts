import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import solc from 'solc';

/** A contract to compile: its folder, its name, and the base name of the generated files. */
export interface ContractSource {
  /** Path below `solidity/`. */
  readonly path: string;
  readonly contract: string;
  /** For example `forwarder` for `forwarderAbi`. */
  readonly name: string;
}

/** One item of an ABI, as the compiler gives it. */
export interface AbiItem {
  readonly type: string;
  readonly name?: string;
  readonly inputs?: readonly { readonly type: string }[];
}

/** A contract as compiled. */
export interface Artifact extends ContractSource {
  readonly abi: readonly AbiItem[];
  /** Creation code, `0x` and hex. */
  readonly bytecode: string;
}

/** The compiler's messages, when one of them is an error. */
class CompilationError extends Error {
  override readonly name = 'CompilationError';
  readonly code = 'COMPILATION_FAILED';
}

interface CompilerMessage {
  readonly severity: 'error' | 'warning' | 'info';
  readonly errorCode?: string;
  readonly formattedMessage: string;
  readonly sourceLocation?: { readonly file: string };
}

/** The part of the compiler's output that is used here. */
interface CompilerOutput {
  readonly errors?: readonly CompilerMessage[];
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<
        Record<string, { readonly abi: readonly AbiItem[]; readonly evm: { readonly bytecode: { object: string } } }>
      >
    >
  >;
}

const SETTINGS = {
  // Cancun is the first with transient storage.
  evmVersion: 'cancun',
  // Runtime cost before size; the Forwarder stays below EIP-170's limit.
  optimizer: { enabled: true, runs: 1_000_000 },
  // Without it the batch functions run out of stack.
  viaIR: true,
  // The same bytecode whatever a comment says: what is generated changes only with what it does.
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
};

const folder = new URL('../solidity/', import.meta.url);
const resolveModule = createRequire(import.meta.url).resolve;

/** The compiler's number for code beyond EIP-170's limit, which the devnet can be told to allow for tests. */
const CODE_SIZE = '5574';

/** Warnings count as errors, but for those about OpenZeppelin's sources, and about the size of test contracts. */
function isOurs({ errorCode, sourceLocation }: CompilerMessage): boolean {
  const file = sourceLocation?.file ?? '';
  return !file.startsWith('@openzeppelin/') && !(errorCode === CODE_SIZE && file.startsWith('test/'));
}

/** The severity that fails a compilation. Spoilt sources may leave a variable unused. */
type Refused = 'warnings' | 'errors';

/** Reads what a source imports: OpenZeppelin's by its package, ours by its path. */
function readImport(path: string): { contents: string } | { error: string } {
  const file = path.startsWith('@openzeppelin/') ? resolveModule(path) : fileURLToPath(new URL(path, folder));
  try {
    return { contents: readFileSync(file, 'utf8') };
  } catch (error) {
    return { error: String(error) };
  }
}

/** Asks the pinned compiler. @throws CompilationError */
function askCompiler(sources: readonly ContractSource[], refused: Refused): CompilerOutput {
  const contents = sources.map(({ path }) => [path, { content: readFileSync(new URL(path, folder), 'utf8') }]);
  const input = { language: 'Solidity', sources: Object.fromEntries(contents), settings: SETTINGS };
  // The compiler's output is JSON of this shape by its documentation.
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport })) as CompilerOutput;
  const said = (output.errors ?? []).filter(isOurs);
  const messages = said.filter(({ severity }) => refused === 'warnings' || severity === 'error');
  if (messages.length > 0) {
    throw new CompilationError(messages.map(({ formattedMessage }) => formattedMessage).join('\n'));
  }
  return output;
}

/**
 * Compiles contracts with the settings of what is deployed.
 *
 * @param sources - what to compile; what they import is found
 * @param refused - what the compiler may not say; default warnings, too
 * @returns one artifact a source, in their order
 * @throws CompilationError `COMPILATION_FAILED`
 */
export function compileSolidity(
  sources: readonly ContractSource[],
  refused: Refused = 'warnings',
): readonly Artifact[] {
  const output = askCompiler(sources, refused);
  return sources.map((source) => {
    const compiled = output.contracts[source.path]?.[source.contract];
    if (compiled === undefined) throw new CompilationError(`${source.path} has no contract ${source.contract}.`);
    return { ...source, abi: compiled.abi, bytecode: `0x${compiled.evm.bytecode.object}` };
  });
}
