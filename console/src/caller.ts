import { computed, signal } from '@preact/signals';
import type { Caller } from './types';

/** The caller; `undefined` before the first answer, `null` if a login is needed. */
export const caller = signal<Caller | null | undefined>(undefined);

const scopes = computed(() => new Set(caller.value?.scopes));

/** Whether the caller may do something; actions without permission are not shown. */
export function may(scope: string): boolean {
  return scopes.value.has(scope);
}

/** Whether the caller is a person with a key, who can log out. */
export const hasLogin = computed(() => caller.value != null && caller.value.id !== 'local');
