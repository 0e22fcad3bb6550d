import { createBody } from '../load/createParams.ts';
import { type Call, runLoad } from '../load/runLoad.ts';

const CONNECTIONS = 32;

/** `GET /requests/{requestId}`. */
export const readCall = (requestId: string): Call => ({ method: 'GET', path: `/requests/${requestId}` });

/** `POST /requests`, with a body of its own. */
export const createCall = (): Call => ({
  method: 'POST',
  path: '/requests',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(createBody()),
});

/** Finds the id in the JSON of a request record, without parsing the rest. @throws Error if there is none */
export function readRequestId(body: string): string {
  const id = /"requestId":"([0-9a-f-]{36})"/.exec(body)?.[1];
  if (id === undefined) throw new Error(`No requestId in ${body}`);
  return id;
}

/** Creates requests outside of any measured time. @returns their ids */
export async function createRequests(port: number, count: number): Promise<readonly string[]> {
  const requestIds: string[] = [];
  const take = (body: string) => void requestIds.push(readRequestId(body));
  await runLoad({ port, connections: CONNECTIONS, rounds: count, steps: [{ make: createCall, take }] });
  return requestIds;
}
