import type { MessagePort } from 'node:worker_threads';

/** Callbacks of a service's caller. */
export interface ServiceCaller<Reply> {
  onReply(reply: Reply): void;
  /** The thread has died, and with it whatever was sent and not answered. */
  onGone(cause: Error): void;
}

/** The caller's end of a service. */
export interface ServiceConnection<Message> {
  /** @param transfer - buffers of the message that move instead of being copied */
  send(message: Message, transfer?: readonly ArrayBuffer[]): void;
  /** Lets the process end although the service is still connected. */
  unref(): void;
  /** Resolves once the service has closed its end, or the thread is gone. */
  readonly closed: Promise<void>;
}

/** Port: one thread beside the one that answers HTTP. Services share it, each with a caller of its own. */
export interface WorkerThread {
  /** Starts a service there, and the thread if it does not run yet. */
  connect<Message, Reply>(service: string, data: unknown, caller: ServiceCaller<Reply>): ServiceConnection<Message>;
}

/** A service on its thread: it listens to the port that its caller sends to, and answers there. */
export type Service<Data> = (port: MessagePort, data: Data) => void | Promise<void>;
