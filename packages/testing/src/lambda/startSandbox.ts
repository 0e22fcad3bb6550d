import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { listenOnLoopback } from '../listenOnLoopback.ts';

/** One instance of a function, as Lambda keeps it: it answers one call at a time, and is frozen in between. */
export interface Sandbox {
  /** How long it took to get ready, in milliseconds. */
  readonly initMs: number;
  /** The most memory that it has had so far, in bytes. */
  peakBytes(): number;
  /** @returns its answer's JSON text @throws Error if it failed, was too late, or passed its memory */
  invoke(event: unknown): Promise<string>;
  close(): Promise<void>;
}

export interface SandboxOptions {
  /** Main module of the runtime interface client. */
  readonly runtimeClient: string;
  /** Folder of the function's code, whose handler is `index.handler`. */
  readonly code: string;
  readonly env: Readonly<Record<string, string>>;
  readonly memoryMegabytes: number;
  readonly limitMs: number;
  /** Takes each line that the function prints. */
  readonly onLine: (line: string) => void;
}

const MEGABYTE = 1024 * 1024;

/** How Lambda's own start script divides a function's memory: a tenth for young objects, in two halves, the rest for old ones. */
function heapArguments(memoryMegabytes: number): string[] {
  const young = Math.floor(memoryMegabytes / 10);
  return [`--max-semi-space-size=${Math.floor(young / 2)}`, `--max-old-space-size=${memoryMegabytes - young}`];
}

function lambdaEnvironment({ code, memoryMegabytes }: SandboxOptions, runtimeApi: string): Record<string, string> {
  return {
    AWS_LAMBDA_RUNTIME_API: runtimeApi,
    AWS_LAMBDA_FUNCTION_NAME: 'prism-gateway-local',
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
    AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/prism-gateway-local',
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    LAMBDA_TASK_ROOT: code,
    _HANDLER: 'index.handler',
    TZ: ':UTC',
  };
}

/** The most memory that a process has had resident, as the kernel counts it: no peak is missed between two looks. */
async function readPeak(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

/**
 * Starts an instance of a function under AWS's runtime interface client. Its memory is held as on Lambda: the heap by the same
 * flags, and the whole process by ending it when it has had more resident.
 *
 * @throws Error if it does not get ready
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { runtimeClient, env, memoryMegabytes, limitMs, onLine } = options;
  const runtimeApi = await startRuntimeApi();
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...heapArguments(memoryMegabytes), runtimeClient], {
    env: { ...env, ...lambdaEnvironment(options, runtimeApi.address) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      onLine(line);
    });
  }
  const closed = once(child, 'close');
  const ended = closed.then(() => {
    throw new Error(
      `The function's process ended with ${child.exitCode ?? child.signalCode}:\n${lines.slice(-20).join('\n')}`,
    );
  });
  ended.catch(() => undefined);
  const orEnd = <T>(step: Promise<T>): Promise<T> => Promise.race([step, ended]);
  // A process that runs has an id.
  const pid = child.pid ?? 0;
  const close = async () => {
    child.kill('SIGKILL');
    await closed;
    await runtimeApi.close();
  };
  let peak = 0;

  async function freeze(): Promise<void> {
    await orEnd(runtimeApi.whenIdle());
    peak = await readPeak(pid);
    if (peak > memoryMegabytes * MEGABYTE) {
      await close();
      throw new Error(`The function had ${Math.ceil(peak / MEGABYTE)} MB resident; it may have ${memoryMegabytes}.`);
    }
    child.kill('SIGSTOP');
  }

  try {
    await orEnd(runtimeApi.whenIdle());
  } catch (error) {
    await close();
    throw error;
  }
  const initMs = performance.now() - startedAt;
  let frozen = freeze();
  frozen.catch(() => undefined);

  return {
    initMs,
    peakBytes: () => peak,
    close,
    async invoke(event) {
      await frozen;
      child.kill('SIGCONT');
      const late = new Error(`The function has not answered within ${limitMs} ms.`);
      const timer = Promise.withResolvers<never>();
      const timeout = setTimeout(() => timer.reject(late), limitMs);
      try {
        return await orEnd(Promise.race([runtimeApi.invoke(event, limitMs), timer.promise]));
      } finally {
        clearTimeout(timeout);
        frozen = freeze();
        frozen.catch(() => undefined);
      }
    },
  };
}

/** The local end of Lambda's Runtime API, for one instance of a function. */
interface RuntimeApi {
  /** `AWS_LAMBDA_RUNTIME_API`. */
  readonly address: string;
  /** Resolves when the instance asks for its next call, which it does when it is ready; rejects when it cannot start. */
  whenIdle(): Promise<void>;
  /**
   * Hands a call to the instance, which must be idle.
   *
   * @param limitMs - its time limit
   * @returns the answer's JSON text
   * @throws Error with what the function threw
   */
  invoke(event: unknown, limitMs: number): Promise<string>;
  close(): Promise<void>;
}

interface Pending {
  readonly id: string;
  resolve(text: string): void;
  reject(error: Error): void;
}

const INVOCATION = /^\/2018-06-01\/runtime\/invocation\/([\w-]+)\/(response|error)$/;

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = await incoming.toArray();
  return Buffer.concat(chunks).toString();
}

/**
 * Starts a Runtime API on 127.0.0.1: as much of it as a runtime interface client uses.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
async function startRuntimeApi(): Promise<RuntimeApi> {
  let idle = Promise.withResolvers<ServerResponse>();
  let pending: Pending | undefined;
  // A failure that comes before anyone waits for it is reported to the first who does.
  idle.promise.catch(() => undefined);

  function settle(id: string, settled: (call: Pending) => void, outgoing: ServerResponse): void {
    if (pending?.id !== id) {
      outgoing.writeHead(400).end();
      return;
    }
    settled(pending);
    pending = undefined;
    outgoing.writeHead(202).end();
  }

  const server = createServer({ requestTimeout: 0 }, async (incoming, outgoing) => {
    const { url = '' } = incoming;
    if (url === '/2018-06-01/runtime/invocation/next') return idle.resolve(outgoing);
    const text = await readText(incoming);
    if (url === '/2018-06-01/runtime/init/error') {
      idle.reject(new Error(`The function failed at its init: ${text}`));
      return outgoing.writeHead(202).end();
    }
    const [, id = '', kind] = INVOCATION.exec(url) ?? [];
    if (kind === 'response') return settle(id, (call) => call.resolve(text), outgoing);
    if (kind === 'error') return settle(id, (call) => call.reject(new Error(`The function failed: ${text}`)), outgoing);
    return outgoing.writeHead(404).end();
  });
  const { url, close } = await listenOnLoopback(server);

  return {
    address: url.replace('http://', ''),
    close,
    async whenIdle() {
      await idle.promise;
    },
    async invoke(event, limitMs) {
      const next = await idle.promise;
      idle = Promise.withResolvers<ServerResponse>();
      idle.promise.catch(() => undefined);
      const id = randomUUID();
      const answer = Promise.withResolvers<string>();
      pending = { id, ...answer };
      next.writeHead(200, {
        'content-type': 'application/json',
        'lambda-runtime-aws-request-id': id,
        'lambda-runtime-deadline-ms': String(Date.now() + limitMs),
        'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:us-east-1:123456789012:function:prism-gateway-local',
        'lambda-runtime-trace-id': 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0',
      });
      next.end(JSON.stringify(event));
      return await answer.promise;
    },
  };
}
