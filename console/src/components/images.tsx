import { t } from '../i18n';

/** The images of a message. Those of other hosts are not loaded: their address is text. */
export function Images({ urls }: { readonly urls: readonly string[] }) {
  if (urls.length === 0) return null;
  return (
    <div class="thumbs">
      {urls.map((url, at) =>
        url.startsWith('data:') ? <img key={at} src={url} alt={t('chat.image')} /> : <span key={at}>{url}</span>,
      )}
    </div>
  );
}
