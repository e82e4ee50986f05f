/** A transparent GIF of one pixel. */
export const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 28rem; margin: 15vh auto; padding: 0 1rem; color: #111827; }
button { font: inherit; padding: .6rem 1.2rem; border: 0; border-radius: .4rem; background: #111827; color: #fff; }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;

/** Posts to the address it is at. */
export const askPage = page(
  'Unsubscribe',
  `<p>You will get no more email from this sender.</p>
<form method="post"><button type="submit">Unsubscribe</button></form>`,
);

export const donePage = page('You are unsubscribed', '<p>You will get no more email from this sender.</p>');
