import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { followTime } from '../clock';
import { ago, dateTime, pretty } from '../format';
import { t, tValue } from '../i18n';
import { href } from '../router';
import { Fault } from './load';

const MANY_TOOLS = 20;

export function Status({ value }: { readonly value: string }) {
  return <span class={`badge ${value}`}>{tValue('status', value)}</span>;
}

/** A time as its distance from now; its title has the date. */
export function When({ at }: { readonly at: number }) {
  followTime();
  return (
    <time dateTime={new Date(at).toISOString()} title={dateTime(at)}>
      {ago(at)}
    </time>
  );
}

/** A link to a place in the console. */
export function Facts({ items }: { readonly items: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {items
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Content of any length. More than a screen of it is shown by a button. */
export function Clamp({ children }: { readonly children: ComponentChildren }) {
  const element = useRef<HTMLDivElement>(null);
  const [isLong, setLong] = useState(false);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const { scrollHeight = 0, clientHeight = 0 } = element.current ?? {};
    if (!isOpen) setLong(scrollHeight > clientHeight + 1);
  }, [children]);
  return (
    <div class="stack">
      <div ref={element} class={isOpen ? '' : 'clamp'}>
        {children}
      </div>
      {isLong && (
        <div>
          <button type="button" class="plain small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {t(isOpen ? 'showLess' : 'showAll')}
          </button>
        </div>
      )}
    </div>
  );
}

/** Links to tools; the first ones of many. */
export function ToolLinks({ tools }: { readonly tools: readonly string[] }) {
  const [isOpen, setOpen] = useState(false);
  const shown = isOpen ? tools : tools.slice(0, MANY_TOOLS);
  return (
    <div class="row">
      <span class="label">{t('nav.tools')}</span>
      {shown.map((tool) => (
        <a key={tool} class="badge" href={href(['tools', tool])}>
          {tool}
        </a>
      ))}
      {tools.length === 0 && <span class="muted">{t('agents.noTools')}</span>}
      {shown.length < tools.length && (
        <button type="button" class="plain small" onClick={() => setOpen(true)}>
          {t('showMore', { count: tools.length - shown.length })}
        </button>
      )}
    </div>
  );
}

/** Text that may be long, with a button that copies it. */
export function Code({ value, label }: { readonly value: unknown; readonly label: string }) {
  const text = pretty(value);
  if (text === '') {
    return (
      <div class="row small">
        <span class="label">{label}</span>
        <span class="muted">{t('form.none')}</span>
      </div>
    );
  }
  return (
    <figure class="stack">
      <figcaption class="row small">
        <span class="label">{label}</span>
        <CopyButton text={text} label={t('copy')} />
      </figcaption>
      {/* A region that scrolls needs the focus for the keyboard. */}
      <pre class="code" tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
    </figure>
  );
}

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false);
  // Browsers offer it on HTTPS and on this machine only.
  if (!(navigator.clipboard as Clipboard | undefined)) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button class="plain small" type="button" onClick={() => void copy()}>
      {isCopied ? t('copied') : label}
    </button>
  );
}

/** A button for a request: it cannot be pressed twice, and its error is shown below. */
export function ActionButton({
  action,
  class: kind = '',
  children,
  disabled = false,
  pressed,
}: {
  readonly action: () => Promise<unknown>;
  readonly class?: string;
  readonly children: ComponentChildren;
  readonly disabled?: boolean;
  /** Of a toggle. */
  readonly pressed?: boolean;
}) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const press = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await action();
    } catch (caught) {
      setError(caught as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button
        type="button"
        class={kind}
        disabled={isBusy || disabled}
        aria-pressed={pressed}
        onClick={() => void press()}
      >
        {children}
      </button>
      {error && <Fault error={error} />}
    </>
  );
}

export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} onClose={onClose} aria-label={title}>
      <div class="stack">
        <div class="head">
          <h2>{title}</h2>
          <button type="button" class="end" onClick={() => element.current?.close()}>
            {t('close')}
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}

/** A button for a change that cannot be undone: a dialog asks first. */
export function ConfirmButton({
  label,
  title,
  text,
  action,
}: {
  readonly label: string;
  readonly title: string;
  /** What the change does. */
  readonly text: string;
  readonly action: () => Promise<unknown>;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="danger" onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && (
        <Dialog title={title} onClose={() => setOpen(false)}>
          <p>{text}</p>
          <div class="row">
            <ActionButton class="danger" action={() => action().then(() => setOpen(false))}>
              {label}
            </ActionButton>
            <button type="button" onClick={() => setOpen(false)}>
              {t('cancel')}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** The name of a run in a link: the end of its id, as ids of one second share their start. */
export function shortId(id: string): string {
  return id.length > 12 ? `…${id.slice(-8)}` : id;
}

export function RunLink({ id }: { readonly id: string }) {
  return (
    <a class="mono" href={href(['runs', id])}>
      {shortId(id)}
    </a>
  );
}

/** Opens the place of the focused row, and moves the focus among the rows of a list. */
export function moveFocus(event: KeyboardEvent, selector: string): void {
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(selector)];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  rows[Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus();
}
