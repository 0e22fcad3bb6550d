/** Runs a function in a process of its own and calls it as its parent asks; started by `startFunction`. */
import { pathToFileURL } from 'node:url';

interface Asked {
  readonly id: number;
  readonly event: unknown;
  readonly limitMs: number;
}

type Handler = (event: unknown, context: object) => Promise<unknown>;

function send(message: object): void {
  // A forked process has a channel to its parent.
  process.send?.(message);
}

async function answer(handler: Handler, { id, event, limitMs }: Asked): Promise<void> {
  const endsAt = Date.now() + limitMs;
  const context = { awsRequestId: `call-${id}`, getRemainingTimeInMillis: () => endsAt - Date.now() };
  try {
    // As Lambda does, so that whatever is not JSON shows.
    send({ id, result: JSON.stringify(await handler(event, context)) });
  } catch (error) {
    send({ id, error: String(error) });
  }
}

const [, , file = ''] = process.argv;
// The function is what the rig was started for.
const { handler } = (await import(pathToFileURL(file).href)) as { handler: Handler };
process.on('message', (message: Asked | { readonly marker: string }) => {
  if ('marker' in message) process.stdout.write(`${message.marker}\n`);
  else void answer(handler, message);
});
send({ ready: true });
