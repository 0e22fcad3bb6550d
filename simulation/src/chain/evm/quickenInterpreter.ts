/**
 * The library's interpreter awaits a promise for each opcode, and looks for the jump destinations of a contract anew in each call of it. This
 * puts a loop in its place that waits only for opcodes that wait, and keeps what it found in a code: a write takes a third of the time. It
 * leans on the insides of the one pinned version; the comparison with Anvil in the tests shows when they change.
 */
import { type EVM, EVMError } from '@ethereumjs/evm';
import { type Common, quicken } from './quickOpcodes.ts';

/** The part of a run of the library's that is used here. */
export interface RunState {
  programCounter: number;
  opCode: number;
  code: Uint8Array;
  validJumps: Uint8Array;
  cachedPushes: Readonly<Record<number, bigint>>;
  shouldDoJumpAnalysis: boolean;
  gasLeft: bigint;
  readonly memoryWordCount: bigint;
  readonly stack: { readonly _store: bigint[]; _len: number };
  readonly memory: { readonly _store: Uint8Array; extend(offset: number, size: number): void };
  readonly interpreter: {
    readonly journal: {
      isWarmedStorage(address: Uint8Array, slot: Uint8Array): boolean;
      addWarmedStorage(address: Uint8Array, slot: Uint8Array): void;
    };
    getAddress(): { readonly bytes: Uint8Array };
    storageLoad(slot: Uint8Array): Promise<Uint8Array>;
  };
}

/** An opcode as the library knows it. */
export interface OpEntry {
  readonly opcodeInfo: {
    readonly code: number;
    readonly feeBigInt: bigint;
    readonly dynamicGas: boolean;
    readonly isInvalid: boolean;
    readonly isAsync: boolean;
  };
  readonly opHandler: (runState: RunState, common: Common) => Promise<void> | void;
  readonly gasHandler: (runState: RunState, gas: bigint, common: Common) => Promise<bigint> | bigint;
}

interface Analysis {
  readonly jumps: Uint8Array;
  readonly pushes: Readonly<Record<number, bigint>>;
  readonly opcodesCached: readonly OpEntry[];
}

/** The part of the library's class that is used here. */
interface Interpreter {
  readonly common: Common;
  readonly _runState: RunState;
  _getValidJumpDestinations(code: Uint8Array): Analysis;
  run(code: Uint8Array): Promise<{ readonly runState: RunState; readonly exceptionError: EVMError | undefined }>;
}

const kept = new WeakMap<Uint8Array, Analysis>();

function analyse(interpreter: Interpreter, code: Uint8Array): Analysis {
  let analysis = kept.get(code);
  if (analysis === undefined) {
    const found = interpreter._getValidJumpDestinations(code);
    const quick = new Map<OpEntry, OpEntry>();
    const quickenOnce = (entry: OpEntry): OpEntry => {
      const made = quick.get(entry) ?? quicken(entry);
      quick.set(entry, made);
      return made;
    };
    analysis = { ...found, opcodesCached: found.opcodesCached.map(quickenOnce) };
    kept.set(code, analysis);
  }
  return analysis;
}

const { STOP, OUT_OF_GAS, INVALID_OPCODE } = EVMError.errorMessages;

/** Runs opcodes until one ends it by an error, of which the end is one. */
async function runOpcodes({ _runState: state, common }: Interpreter, opcodes: readonly OpEntry[]): Promise<void> {
  const { length } = state.code;
  while (state.programCounter < length) {
    // The analysis has an entry wherever an instruction can begin.
    const { opcodeInfo, opHandler, gasHandler } = opcodes[state.programCounter] as OpEntry;
    state.opCode = opcodeInfo.code;
    let gas = opcodeInfo.feeBigInt;
    if (opcodeInfo.dynamicGas) {
      const asked = gasHandler(state, gas, common);
      gas = typeof asked === 'bigint' ? asked : await asked;
    }
    if (opcodeInfo.isInvalid) throw new EVMError(INVALID_OPCODE);
    state.gasLeft -= gas;
    if (state.gasLeft < 0n) {
      state.gasLeft = 0n;
      throw new EVMError(OUT_OF_GAS);
    }
    state.programCounter++;
    const done = opHandler(state, common);
    if (opcodeInfo.isAsync) await done;
  }
}

async function run(this: Interpreter, code: Uint8Array) {
  const state = this._runState;
  const { jumps, pushes, opcodesCached } = analyse(this, code);
  Object.assign(state, { code, validJumps: jumps, cachedPushes: pushes, shouldDoJumpAnalysis: false });
  try {
    await runOpcodes(this, opcodesCached);
    return { runState: state, exceptionError: undefined };
  } catch (error) {
    if (!(error instanceof EVMError)) throw error;
    return { runState: state, exceptionError: error.error === STOP ? undefined : error };
  }
}

let isQuick = false;

/**
 * Puts the loop in place, for all EVMs of the process.
 *
 * @param evm - any one: the class of its interpreter is not public, and is met in a call
 */
export async function quickenInterpreter(evm: EVM): Promise<void> {
  if (isQuick) return;
  isQuick = true;
  const result = await evm.runCode({ code: new Uint8Array([0]), gasLimit: 1n });
  const interpreter: unknown = result.runState?.interpreter;
  const prototype = Object.getPrototypeOf(interpreter) as Interpreter;
  if (typeof prototype._getValidJumpDestinations !== 'function') throw new Error('The EVM is of another version.');
  prototype.run = run;
}
