import type { ServerResponse } from 'node:http';

/** How a server fails: never answering, hanging up, bytes that are no JSON, an endless body, or this answer instead. */
export type Misbehaviour =
  | 'silent'
  | 'hang-up'
  | 'garbage'
  | 'endless'
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };

function sendEndlessly(response: ServerResponse): void {
  const chunk = `"${'x'.repeat(65_536)}",`;
  const pour = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.on('drain', pour);
  pour();
}

/**
 * Answers as a failing server would.
 *
 * @param response - not yet begun
 * @param behaviour - how to fail
 */
export function misbehave(response: ServerResponse, behaviour: Misbehaviour): void {
  if (behaviour === 'silent') return;
  if (behaviour === 'hang-up') {
    response.destroy();
  } else if (behaviour === 'garbage') {
    response.writeHead(200).end('<html>not what you came for');
  } else if (behaviour === 'endless') {
    sendEndlessly(response);
  } else {
    response.writeHead(behaviour.status, { 'content-type': 'application/json', ...behaviour.headers });
    response.end(JSON.stringify(behaviour.body ?? {}));
  }
}
