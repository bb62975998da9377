-- What makes turns found by their words. It is made from the bodies and never the truth.

-- Every word of every body, found by the body's id; the text itself is only there. `answer` is
-- the last reply, `replies` those before it, `files` what was read, changed or fetched.
create virtual table turns_text using fts5 (
  prompt, answer, replies, commands, files, errors, output,
  content = '', contentless_delete = 1,
  tokenize = 'porter unicode61 remove_diacritics 2'
);
-- A first import writes hundreds of megabytes; a larger hash means fewer, larger segments.
insert into turns_text (turns_text, rank) values ('hashsize', 33554432);
