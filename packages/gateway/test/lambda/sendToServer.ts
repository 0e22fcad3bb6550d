import { request } from 'node:http';
import type { HttpCall } from '@prism-gateway/testing';
import { keepHeaders, type SeenAnswer } from './answer.ts';

/** Sends a call to a server as it stands: path, query and headers are not made normal. */
export async function sendToServer(url: string, call: HttpCall): Promise<SeenAnswer> {
  const { hostname, port } = new URL(url);
  const { method, target: path } = call;
  return await new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers: call.headers.flat() }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        // An answer has a status.
        const status = incoming.statusCode ?? 0;
        resolve({ status, headers: keepHeaders(incoming.headers), body: Buffer.concat(chunks).toString('latin1') });
      });
    });
    sent.on('error', reject);
    sent.end(call.body);
  });
}
