/**
 * The opcodes that contracts use most, as the library has them but without its detours: words go between stack and memory without arrays that
 * are spread, and memory that is there already costs no division.
 */
import { EVMError } from '@ethereumjs/evm';
import type { OpEntry, RunState } from './quickenInterpreter.ts';

const { STACK_UNDERFLOW, STACK_OVERFLOW } = EVMError.errorMessages;
const [WORD, MAX_STACK] = [32, 1024];
/** Whole numbers that are exact as numbers. */
const SMALL = 2n ** 32n;

type Stack = RunState['stack'];

/** @throws EVMError if there are not as many */
function need(stack: Stack, count: number): void {
  if (stack._len < count) throw new EVMError(STACK_UNDERFLOW);
}

const top = (stack: Stack, below = 0): bigint => stack._store[stack._len - 1 - below] as bigint;

/** Bytes as a number. */
export function readWord(bytes: Uint8Array, at: number, length = WORD): bigint {
  const { buffer, byteOffset } = bytes;
  return BigInt(`0x${Buffer.from(buffer, byteOffset + at, length).toString('hex') || '0'}`);
}

/** Writes a number as 32 bytes. */
function writeWord(bytes: Uint8Array, at: number, word: bigint): void {
  if (word >= SMALL) {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset + at, WORD);
    view.write(word.toString(16).padStart(2 * WORD, '0'), 'hex');
    return;
  }
  bytes.fill(0, at, at + WORD - 4);
  const low = Number(word);
  bytes[at + 28] = low >>> 24;
  bytes[at + 29] = low >>> 16;
  bytes[at + 30] = low >>> 8;
  bytes[at + 31] = low;
}

/** A number as 32 bytes of its own memory. */
export function toWord(word: bigint): Uint8Array {
  const bytes = new Uint8Array(WORD);
  writeWord(bytes, 0, word);
  return bytes;
}

function mload({ stack, memory }: RunState): void {
  need(stack, 1);
  const at = Number(top(stack));
  memory.extend(at, WORD);
  stack._store[stack._len - 1] = readWord(memory._store, at);
}

function mstore({ stack, memory }: RunState): void {
  need(stack, 2);
  const at = Number(top(stack));
  memory.extend(at, WORD);
  writeWord(memory._store, at, top(stack, 1));
  stack._len -= 2;
}

function push(state: RunState): void {
  const { stack } = state;
  if (stack._len >= MAX_STACK) throw new EVMError(STACK_OVERFLOW);
  stack._store[stack._len++] = state.cachedPushes[state.programCounter] as bigint;
  state.programCounter += state.opCode - 0x5f;
}

/** Gas of memory: nothing if it has been paid for. */
function withPaidMemory(entry: OpEntry): OpEntry['gasHandler'] {
  return (state, gas, common) => {
    need(state.stack, 1);
    if (top(state.stack) + 32n <= state.memoryWordCount * 32n) return gas;
    return entry.gasHandler(state, gas, common);
  };
}

function sloadGas({ stack, interpreter }: RunState, gas: bigint, common: Common): bigint {
  need(stack, 1);
  const { journal } = interpreter;
  const [address, key] = [interpreter.getAddress().bytes, toWord(top(stack))];
  if (journal.isWarmedStorage(address, key)) return gas + common.param('warmstoragereadGas');
  journal.addWarmedStorage(address, key);
  return gas + common.param('coldsloadGas');
}

async function sload({ stack, interpreter }: RunState): Promise<void> {
  need(stack, 1);
  const value = await interpreter.storageLoad(toWord(top(stack)));
  stack._store[stack._len - 1] = readWord(value, 0, value.length);
}

/** The library's name for its parameters. */
export interface Common {
  param(name: string): bigint;
}

/** @returns the entry of an opcode, quicker if there is one */
export function quicken(entry: OpEntry): OpEntry {
  const { code } = entry.opcodeInfo;
  if (code >= 0x60 && code <= 0x7f) return { ...entry, opHandler: push };
  if (code === 0x51) return { ...entry, opHandler: mload, gasHandler: withPaidMemory(entry) };
  if (code === 0x52) return { ...entry, opHandler: mstore, gasHandler: withPaidMemory(entry) };
  if (code === 0x54) return { ...entry, opHandler: sload, gasHandler: sloadGas };
  return entry;
}
