import type { HttpCall, RunningFunction } from '@prism-gateway/testing';
import { keepHeaders, type SeenAnswer } from './answer.ts';

/** The function's result, as API Gateway reads it. */
interface Result {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

/** Calls a function by an event, and reads its answer as API Gateway does. */
export async function sendToFunction(
  running: RunningFunction,
  call: HttpCall,
  event: Record<string, unknown>,
  limitMs?: number,
): Promise<SeenAnswer> {
  // What is no such result makes the comparison fail.
  const result = (await running.invoke(event, limitMs)) as Result;
  const bytes = Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8');
  return {
    status: result.statusCode,
    headers: keepHeaders(result.headers),
    body: call.method === 'HEAD' ? '' : bytes.toString('latin1'),
  };
}
