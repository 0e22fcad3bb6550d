import { hash } from 'node:crypto';

/** Name of a user's own folder, which says nothing of the user. @returns 64 hex digits */
export const userFolderOf = ({ issuer, userId }: { readonly issuer: string; readonly userId: string }): string =>
  hash('sha256', `${issuer}|${userId}`);

/** An object of a user. */
export interface ObjectName {
  /** As `userFolderOf` has it. */
  readonly folder: string;
  /** 16 bytes, `0x` and hex digits. */
  readonly projectId: string;
  /** 32 bytes, `0x` and hex digits. */
  readonly key: string;
}

const digitsOf = (hex: string) => hex.slice(2).toLowerCase();

/**
 * Says where an object lies in the bucket: the one place that does.
 *
 * @returns `v1/{64 hex}/{32 hex}/{64 hex}`; no leading slash
 * @see docs/specification.md SIGN-4
 */
export const objectPathOf = ({ folder, projectId, key }: ObjectName): string =>
  `v1/${folder}/${digitsOf(projectId)}/${digitsOf(key)}`;

/** What every such path is like. */
export const OBJECT_PATH = /v1\/[0-9a-f]{64}\/[0-9a-f]{32}\/[0-9a-f]{64}/;

/** The path of the folder with all objects of the user whose object it is. */
export const userPathOf = (objectPath: string): string => objectPath.split('/').slice(0, 2).join('/');
