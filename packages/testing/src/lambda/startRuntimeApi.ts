import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '../listenOnLoopback.ts';

/** The local end of Lambda's Runtime API, for one instance of a function. */
export interface RuntimeApi {
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
export async function startRuntimeApi(): Promise<RuntimeApi> {
  let idle = Promise.withResolvers<ServerResponse>();
  let pending: Pending | undefined;
  // A failure that comes before anyone waits for it is told to the first who does.
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
