import { openConnection } from './openConnection.ts';

/** An answer with its body. */
export interface LineAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** A keep-alive connection on which each call is awaited. */
export interface Line {
  /** @throws Error when the connection breaks */
  ask(call: Buffer): Promise<LineAnswer>;
  close(): void;
}

/** Opens a connection on which calls are awaited one after another. */
export async function openLine(port: number): Promise<Line> {
  let waiting = Promise.withResolvers<LineAnswer>();
  // A break between two calls is told to the next one.
  waiting.promise.catch(() => {});
  const connection = await openConnection({
    port,
    keepBody: true,
    onFailure: (error) => waiting.reject(error),
    onAnswer: (status, body) => waiting.resolve({ status, body: Buffer.from(body) }),
  });
  return {
    async ask(call) {
      connection.send(call);
      const answer = await waiting.promise;
      waiting = Promise.withResolvers();
      waiting.promise.catch(() => {});
      return answer;
    },
    close: connection.close,
  };
}
