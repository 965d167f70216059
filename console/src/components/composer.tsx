import { useState } from 'preact/hooks';
import { may } from '../caller';
import { t } from '../i18n';
import type { Choice, Talk } from '../talk';
import type { Agent } from '../types';
import { useLoad } from './load';
import { ActionButton } from './parts';

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
const MAX_IMAGE_BYTES = 4_000_000;

/** The form for the next question: its text and images, the agent, the model and the effort. */
export function Composer({
  talk,
  choice,
  onChoice,
  onAsk,
}: {
  readonly talk: Talk;
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
  /** Resolves with false if the server has not accepted the question. */
  readonly onAsk: (query: string, images: readonly string[]) => Promise<boolean>;
}) {
  const [query, setQuery] = useState('');
  const [images, setImages] = useState<readonly string[]>([]);
  const submit = async () => {
    if (query.trim() === '' || talk.running.value !== null) return;
    setQuery('');
    setImages([]);
    if (await onAsk(query, images)) return;
    setQuery(query);
    setImages(images);
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {images.length > 0 && (
        <div class="thumbs">
          {images.map((url, at) => (
            <button type="button" key={at} onClick={() => setImages(images.filter((_each, other) => other !== at))}>
              <img src={url} alt={t('chat.image')} />
              <span class="hidden">{t('chat.removeImage')}</span>
            </button>
          ))}
        </div>
      )}
      <textarea
        rows={3}
        aria-label={t('chat.message')}
        placeholder={t('chat.placeholder')}
        value={query}
        onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        onKeyDown={(event) => {
          // An input method that composes a character also uses Enter.
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void submit();
        }}
        onPaste={(event) => void addImages(event.clipboardData?.files, setImages)}
      />
      <div class="row">
        <Choices choice={choice} onChoice={onChoice} />
        <label class="button">
          {t('chat.addImage')}
          <input
            class="hidden"
            type="file"
            accept="image/png,image/jpeg,image/gif,image/webp"
            multiple
            onChange={({ currentTarget }) => void addImages(currentTarget.files, setImages)}
          />
        </label>
        {talk.running.value !== null ? (
          <ActionButton class="danger" action={() => talk.stop()}>
            {t('chat.stop')}
          </ActionButton>
        ) : (
          <button type="submit" class="primary" disabled={query.trim() === ''}>
            {t('chat.send')}
          </button>
        )}
      </div>
    </form>
  );
}

function Choices({ choice, onChoice }: { readonly choice: Choice; readonly onChoice: (choice: Choice) => void }) {
  const { value: agents } = useLoad<{ agents: readonly Agent[] }>(may('tools:read') ? 'agents' : null);
  return (
    <>
      {agents && agents.agents.length > 0 && (
        <select
          aria-label={t('agent')}
          value={choice.agent}
          onChange={({ currentTarget }) => onChoice({ ...choice, agent: currentTarget.value })}
        >
          {agents.agents.map(({ name, is_default, model }) => (
            <option key={name} value={is_default ? '' : name}>
              {name} ({model.name})
            </option>
          ))}
        </select>
      )}
      <input
        aria-label={t('model')}
        placeholder={t('chat.otherModel')}
        value={choice.model}
        onInput={({ currentTarget }) => onChoice({ ...choice, model: currentTarget.value })}
      />
      <select
        aria-label={t('chat.effort')}
        value={choice.effort}
        onChange={({ currentTarget }) => onChoice({ ...choice, effort: currentTarget.value })}
      >
        <option value="">{t('chat.effortDefault')}</option>
        {EFFORTS.map((effort) => (
          <option key={effort} value={effort}>
            {effort}
          </option>
        ))}
      </select>
    </>
  );
}

async function addImages(
  files: FileList | null | undefined,
  set: (change: (old: readonly string[]) => readonly string[]) => void,
): Promise<void> {
  const images = [...(files ?? [])].filter(({ type, size }) => type.startsWith('image/') && size <= MAX_IMAGE_BYTES);
  const urls = await Promise.all(images.map(toDataUrl));
  set((old) => [...old, ...urls]);
}

function toDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(reader.error ?? new Error(file.name)));
    reader.readAsDataURL(file);
  });
}
