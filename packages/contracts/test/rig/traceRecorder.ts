import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { http, type Transport } from 'viem';

/** One instruction that was executed. */
interface Step {
  readonly pc: number;
  readonly op: string;
  readonly depth: number;
}

/** One call or creation, with those that it made. */
interface Frame {
  readonly type: string;
  readonly to?: string;
  readonly input: string;
  readonly calls?: readonly Frame[];
}

/** What was executed of one code: of a contract, or of its creation with all that follows the code. */
interface Executed {
  readonly pcs: Set<number>;
  /** By the place of a JUMPI: 1 it went on, 2 it jumped, 3 both. */
  readonly jumps: Map<number, number>;
}

const CALLS = new Set(['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL', 'CREATE', 'CREATE2']);
/** Requests after which another code may stand at an address. */
const CHANGES = new Set(['evm_revert', 'anvil_setCode']);
/** A node that traces takes its time; it is on this machine. */
const TIMEOUT_MS = 600_000;
/** Of each instruction only where it stands: else a transaction would take a hundred times as long. */
const BRIEF = { disableStack: true, disableMemory: true, disableStorage: true };

/**
 * Writes down which instructions of which code a chain executes: those of each transaction whose receipt is asked for, of each call, and of
 * all transactions before. The chain must trace.
 *
 * @param options.rpcUrl - of the devnet
 * @param options.folder - where `write` puts a file
 * @returns what a viem client speaks through, and `write`
 */
export async function createTraceRecorder({ rpcUrl, folder }: { readonly rpcUrl: string; readonly folder: string }) {
  const reach = http(rpcUrl, { timeout: TIMEOUT_MS });
  const ask = reach({}).request;
  const executed = new Map<string, Executed>();
  const codes = new Map<string, Promise<string>>();
  const seen = new Set<unknown>();

  // The node's answers have the shapes that are asked for.
  const request = async <T>(method: string, params: readonly unknown[]) => (await ask({ method, params })) as T;

  function codeOf({ type, to = '', input }: Frame): Promise<string> {
    if (type.startsWith('CREATE')) return Promise.resolve(input);
    const code = codes.get(to) ?? request<string>('eth_getCode', [to, 'latest']);
    codes.set(to, code);
    return code;
  }

  async function enter(frame: Frame) {
    const code = await codeOf(frame);
    const hits = executed.get(code) ?? { pcs: new Set(), jumps: new Map() };
    executed.set(code, hits);
    return { hits, calls: (frame.calls ?? []).values() };
  }

  async function walk(steps: readonly Step[], root: Frame): Promise<void> {
    const open = [await enter(root)];
    for (const [index, { pc, op, depth }] of steps.entries()) {
      open.length = depth;
      // A step's frame was entered by the step before.
      const { hits, calls } = open[depth - 1]!;
      hits.pcs.add(pc);
      const next = steps[index + 1];
      if (op === 'JUMPI' && next?.depth === depth) {
        hits.jumps.set(pc, (hits.jumps.get(pc) ?? 0) | (next.pc === pc + 1 ? 1 : 2));
      }
      if (!CALLS.has(op)) continue;
      const called = calls.next().value;
      if (called !== undefined && next !== undefined && next.depth > depth) open.push(await enter(called));
    }
  }

  async function trace(method: string, params: readonly unknown[]): Promise<void> {
    const [{ structLogs }, root] = await Promise.all([
      request<{ readonly structLogs: readonly Step[] }>(method, [...params, BRIEF]),
      request<Frame>(method, [...params, { tracer: 'callTracer' }]),
    ]);
    if (structLogs.length > 0) await walk(structLogs, root);
  }

  async function traceTransaction(hash: unknown): Promise<void> {
    if (seen.has(hash)) return;
    seen.add(hash);
    await trace('debug_traceTransaction', [hash]);
  }

  async function traceRequest(method: string, params: readonly unknown[]): Promise<void> {
    if (CHANGES.has(method)) codes.clear();
    if (method === 'eth_getTransactionReceipt') await traceTransaction(params[0]);
    if (method === 'eth_call') await trace('debug_traceCall', [params[0], params[1] ?? 'latest']);
  }

  const transport: Transport = (options) => {
    const inner = reach(options);
    const record = async (args: { readonly method: string; readonly params?: unknown }) => {
      try {
        return await inner.request(args);
      } finally {
        await traceRequest(args.method, (args.params ?? []) as readonly unknown[]);
      }
    };
    // It answers what the transport below answers.
    return { ...inner, request: record as typeof inner.request };
  };

  const latest = Number(await request<string>('eth_blockNumber', []));
  for (let block = 1; block <= latest; block++) {
    const number = `0x${block.toString(16)}`;
    const { transactions } = await request<{ transactions: readonly string[] }>('eth_getBlockByNumber', [
      number,
      false,
    ]);
    for (const hash of transactions) await traceTransaction(hash);
  }

  return {
    transport,
    write: () => {
      const list = [...executed].map(([code, { pcs, jumps }]) => ({ code, pcs: [...pcs], jumps: [...jumps] }));
      writeFileSync(join(folder, `${randomUUID()}.json`), JSON.stringify(list));
    },
  };
}
