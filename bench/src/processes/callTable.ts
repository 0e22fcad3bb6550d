/** What a child process can be asked: one entry a call, with the shape of what goes in and what comes out. */
export type CallTable = Record<string, { readonly params: unknown; readonly result: unknown }>;

/** Answers a child gives, one function a call. */
export type CallHandlers<Table extends CallTable> = {
  readonly [Name in keyof Table]: (params: Table[Name]['params']) => Promise<Table[Name]['result']>;
};

/** Message from the parent to the child. */
export interface CallMessage {
  readonly callId: number;
  readonly name: string;
  readonly params: unknown;
}

/** Message from the child to the parent: what came out, or why nothing did. */
export type CallAnswer =
  | { readonly callId: number; readonly result: unknown }
  | { readonly callId: number; readonly error: string };
