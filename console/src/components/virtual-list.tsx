import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { moveFocus } from './parts';

/** Rows that are rendered above and below the visible ones, for the keyboard and for fast scrolling. */
const MARGIN = 8;

/**
 * A list of rows of one height, of which only the visible ones are in the document.
 * @param rowHeight in px
 */
export function VirtualList<T>({
  items,
  rowHeight,
  label,
  class: kind = 'list',
  onEnd,
  children,
}: {
  readonly items: readonly T[];
  readonly rowHeight: number;
  readonly label: string;
  readonly class?: string;
  /** Called when the last row is near. */
  readonly onEnd?: () => void;
  readonly children: (item: T, index: number) => ComponentChildren;
}) {
  const element = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const box = element.current;
    if (!box) return undefined;
    const read = () => setView({ top: box.scrollTop, height: box.clientHeight });
    read();
    box.addEventListener('scroll', read, { passive: true });
    const observer = new ResizeObserver(read);
    observer.observe(box);
    return () => {
      box.removeEventListener('scroll', read);
      observer.disconnect();
    };
  }, []);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - MARGIN);
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + MARGIN);
  useEffect(() => {
    if (last >= items.length) onEnd?.();
  }, [last, items.length]);
  return (
    <div
      ref={element}
      class={kind}
      role="list"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={(event) => moveFocus(event, '[data-row]')}
    >
      <div style={{ height: `${first * rowHeight}px` }} />
      {items.slice(first, last).map((item, at) => (
        <div role="listitem" key={first + at} aria-setsize={items.length} aria-posinset={first + at + 1}>
          {children(item, first + at)}
        </div>
      ))}
      <div style={{ height: `${(items.length - last) * rowHeight}px` }} />
    </div>
  );
}
