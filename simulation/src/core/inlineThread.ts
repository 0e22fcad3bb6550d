import { EventEmitter } from 'node:events';
import workerThreads, { type MessagePort } from 'node:worker_threads';
import { services } from '@prism-gateway/gateway/services';

/** One end of a channel that lives in this thread. */
class InlinePort extends EventEmitter {
  private other: InlinePort | undefined;
  private isOpen = true;
  static pair(): readonly [InlinePort, InlinePort] {
    const ends = [new InlinePort(), new InlinePort()] as const;
    ends[0].other = ends[1];
    ends[1].other = ends[0];
    return ends;
  }
  postMessage(message: unknown): void {
    const { other } = this;
    const copy = structuredClone(message);
    setImmediate(() => {
      if (other?.isOpen) other.emit('message', copy);
    });
  }
  close(): void {
    for (const end of [this, this.other]) {
      if (end?.isOpen !== true) continue;
      end.isOpen = false;
      setImmediate(() => end.emit('close'));
    }
  }
  unref(): void {}
}

/** Answers for ports of this thread, which never have more than they have announced. @returns puts the real one back */
export function installPorts(): () => void {
  const { receiveMessageOnPort } = workerThreads;
  Object.assign(workerThreads, {
    receiveMessageOnPort: (port: MessagePort) =>
      (port as unknown) instanceof InlinePort ? undefined : receiveMessageOnPort(port),
  });
  return () => void Object.assign(workerThreads, { receiveMessageOnPort });
}

/** Runs the gateway's services in the thread of the world, where its time and its disks are simulated. */
export function createInlineThread() {
  return {
    connect<Message, Reply>(
      service: string,
      data: unknown,
      caller: { onReply(reply: Reply): void; onGone(cause: Error): void },
    ) {
      const [own, served] = InlinePort.pair();
      const closed = new Promise<void>((resolve) => own.once('close', resolve));
      own.on('message', caller.onReply);
      const waiting: unknown[] = [];
      let isStarted = false;
      const load = services[service];
      if (load === undefined) throw new Error(`There is no service ${service}.`);
      void (async () => {
        try {
          const run = await load();
          await run(served as unknown as MessagePort, data as never);
          isStarted = true;
          for (const message of waiting) own.postMessage(message);
        } catch (error) {
          caller.onGone(error as Error);
        }
      })();
      return {
        send(message: Message) {
          if (isStarted) own.postMessage(message);
          else waiting.push(message);
        },
        unref: () => {},
        closed,
      };
    },
    async close() {},
  };
}
