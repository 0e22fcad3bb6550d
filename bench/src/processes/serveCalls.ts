import type { CallAnswer, CallHandlers, CallMessage, CallTable } from './callTable.ts';

/**
 * Makes this process answer its parent's calls, until the parent is gone.
 *
 * @param handlers one function a call
 */
export function serveCalls<Table extends CallTable>(handlers: CallHandlers<Table>): void {
  const reply = (answer: CallAnswer) => process.send?.(answer);
  process.on('message', (message: CallMessage) => {
    const handler = handlers[message.name];
    if (handler === undefined) {
      reply({ callId: message.callId, error: `There is no call named ${message.name}.` });
      return;
    }
    handler(message.params).then(
      (result) => reply({ callId: message.callId, result }),
      (error: unknown) => reply({ callId: message.callId, error: describe(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
  // The parent decides when the bench ends; a Ctrl-C meant for it reaches the whole process group.
  process.on('SIGINT', () => {});
  process.send?.({ callId: 0, result: 'ready' } satisfies CallAnswer);
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
