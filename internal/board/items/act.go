package items

import (
	"context"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/storage"
)

// maxReason is how many characters of a reason a notice shows.
const maxReason = 300

// maxBulk is the maximum number of items that one form changes.
const maxBulk = 500

// Act makes a change that a form requests.
func (v *View) Act(ctx context.Context, r board.Request, action string, form url.Values) (board.Outcome, error) {
	ctx = claim.WithAgent(ctx, v.o.Agent)
	out, err := v.act(ctx, r, action, form)
	_ = v.o.Claims.Look(ctx) // what cannot be renewed expires
	return out, explain(err)
}

func (v *View) act(ctx context.Context, r board.Request, action string, form url.Values) (board.Outcome, error) {
	f := filterOf(r.Query)
	if r.Path == "" {
		switch action {
		case "create":
			return v.create(ctx, f, form)
		case "bulk":
			return v.bulk(ctx, f, form)
		}
		return board.Outcome{}, noAction(action)
	}
	id, err := item.ParseID(r.Path)
	if err != nil {
		return board.Outcome{}, err
	}
	do, known := map[string]func(context.Context, item.ID, url.Values) (string, error){
		"update": v.update, "comment": v.comment, "claim": v.claim, "release": v.release, "undo": v.undo, "restore": v.restore,
	}[action]
	if action == "delete" {
		return v.delete(ctx, f, id, form)
	}
	if !known {
		return board.Outcome{}, noAction(action)
	}
	said, err := do(ctx, id, form)
	return board.Outcome{To: f.address(id.String()), Notice: notice(said)}, err
}

func noAction(name string) error {
	return failure.New(failure.NotFound, fmt.Sprintf("Unknown change %q", cut(name, maxValue)), "Reload the page and try again.")
}

// notice returns a text that describes a change.
func notice(text string) template.HTML { return template.HTML(template.HTMLEscapeString(text)) }

func cut(text string, length int) string { return cleantext.Cut(cleantext.Line(text), length) }

// text returns a field of a form, trimmed, as browsers send it.
func text(form url.Values, name string) string {
	return strings.TrimSpace(strings.ReplaceAll(form.Get(name), "\r\n", "\n"))
}

// list splits words at commas.
func list(text string) []string {
	var words distinct.List[string]
	for w := range strings.SplitSeq(text, ",") {
		if w = strings.TrimSpace(w); w != "" {
			words.Add(w)
		}
	}
	return append([]string{}, words.Values()...)
}

// ids reads numbers separated by commas or spaces.
func ids(text string) ([]item.ID, error) {
	all := []item.ID{}
	for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		id, err := item.ParseID(strings.TrimPrefix(one, "#"))
		if err != nil {
			return nil, err
		}
		all = append(all, id)
	}
	return all, nil
}

// parent reads the number of a parent; an empty text means none.
func parent(text string) (item.ID, error) {
	if text == "" {
		return 0, nil
	}
	return item.ParseID(strings.TrimPrefix(text, "#"))
}

func (v *View) create(ctx context.Context, f filter, form url.Values) (board.Outcome, error) {
	draft := item.Draft{
		Title: text(form, "title"), Type: form.Get("type"), Status: form.Get("status"), Priority: form.Get("priority"),
		Assignee: text(form, "assignee"), Iteration: text(form, "iteration"), Labels: list(form.Get("labels")), Description: text(form, "description"),
	}
	var err error
	if draft.Parent, err = parent(text(form, "parent")); err != nil {
		return board.Outcome{}, err
	}
	if draft.DependsOn, err = ids(form.Get("depends_on")); err != nil {
		return board.Outcome{}, err
	}
	it, err := v.o.Store.Create(ctx, draft)
	if err != nil {
		return board.Outcome{}, err
	}
	return board.Outcome{To: f.address(it.ID.String()), Notice: notice(fmt.Sprintf("Item %d was created.", it.ID))}, nil
}

// patch reads the fields that a form has.
func patch(form url.Values) (item.Patch, error) {
	var p item.Patch
	for name, into := range map[string]**string{
		"title": &p.Title, "type": &p.Type, "status": &p.Status, "priority": &p.Priority, "assignee": &p.Assignee, "iteration": &p.Iteration,
		"description": &p.Description, "branch": &p.Branch, "pull_request": &p.PullRequest,
	} {
		if form.Has(name) {
			value := text(form, name)
			*into = &value
		}
	}
	if form.Has("labels") {
		labels := list(form.Get("labels"))
		p.Labels = &labels
	}
	if form.Has("parent") {
		id, err := parent(text(form, "parent"))
		if err != nil {
			return p, err
		}
		p.Parent = &id
	}
	if form.Has("depends_on") {
		on, err := ids(form.Get("depends_on"))
		if err != nil {
			return p, err
		}
		p.DependsOn = &on
	}
	return p, nil
}

func (v *View) update(ctx context.Context, id item.ID, form url.Values) (string, error) {
	p, err := patch(form)
	if err != nil {
		return "", err
	}
	_, err = v.o.Store.Update(ctx, id, p)
	return fmt.Sprintf("Item %d was changed.", id), err
}

func (v *View) comment(ctx context.Context, id item.ID, form url.Values) (string, error) {
	said := text(form, "text")
	if said == "" {
		return "", &item.InvalidError{Field: "text", Problem: "The comment is empty"}
	}
	_, err := v.o.Store.AddComment(ctx, id, "", said)
	return "The comment was added.", err
}

func (v *View) claim(ctx context.Context, id item.ID, form url.Values) (string, error) {
	got, err := v.o.Claims.Claim(ctx, storage.ClaimRequest{ID: id, Steal: form.Has("steal")})
	if err == nil && got.Unconfirmed != nil {
		return fmt.Sprintf("You claimed item %d. The remote has not confirmed it, so another clone can still get it: %s.", id, cut(got.Unconfirmed.Error(), maxReason)), nil //nolint:nilerr // the claim counts here; the error is part of the answer
	}
	return fmt.Sprintf("You claimed item %d.", id), err
}

func (v *View) release(ctx context.Context, id item.ID, form url.Values) (string, error) {
	ended, err := v.o.Claims.Release(ctx, id, form.Has("steal"))
	switch {
	case err != nil:
		return "", err
	case !ended.Was:
		return fmt.Sprintf("Nobody held item %d.", id), nil
	case ended.Unconfirmed != nil:
		return fmt.Sprintf("Item %d was released. Other clones do not know that yet: %s.", id, cut(ended.Unconfirmed.Error(), maxReason)), nil //nolint:nilerr // as above
	}
	return fmt.Sprintf("Item %d was released.", id), nil
}

func (v *View) undo(ctx context.Context, id item.ID, form url.Values) (string, error) {
	_, err := v.o.Store.Undo(ctx, id, form.Get("change"), false)
	return "The change was undone.", err
}

func (v *View) restore(ctx context.Context, id item.ID, _ url.Values) (string, error) {
	_, err := v.o.Store.Restore(ctx, id)
	return fmt.Sprintf("Item %d was restored.", id), err
}

// delete is the second step: the effects that the page showed must still be the same.
func (v *View) delete(ctx context.Context, f filter, id item.ID, form url.Values) (board.Outcome, error) {
	seen := item.Fingerprint(form.Get("seen"))
	if seen == "" {
		return board.Outcome{}, failure.New(failure.Invalid, "The page has not shown the effects of the deletion yet", "Choose Delete on the page of the item.")
	}
	it, err := v.o.Store.Item(ctx, id)
	if err != nil {
		return board.Outcome{}, err
	}
	if err := v.o.Store.Delete(ctx, id, seen, false); err != nil {
		return board.Outcome{}, err
	}
	draw := &markup.Renderer{Kit: v.kit, Templates: v.templates}
	done := draw.HTML("deleted", struct {
		ID           item.ID
		Title, Query string
		Final        bool
	}{id, cut(it.Title, maxTitle), f.values().Encode(), v.o.Store.Capabilities().Deletion == storage.Final})
	return board.Outcome{To: f.address(""), Notice: done}, draw.Err
}

// bulk changes one field of several items. Each item changes completely or not at all.
func (v *View) bulk(ctx context.Context, f filter, form url.Values) (board.Outcome, error) {
	chosen := form["id"]
	field, value := form.Get("field"), text(form, "value")
	switch {
	case len(chosen) == 0:
		return board.Outcome{}, failure.New(failure.Invalid, "No items are selected", "Check the boxes of some items first.")
	case len(chosen) > maxBulk:
		return board.Outcome{}, failure.New(failure.Invalid, fmt.Sprintf("More than %d items are selected", maxBulk), "Select fewer items.")
	}
	changed := 0
	for _, one := range chosen {
		id, err := item.ParseID(one)
		if err == nil {
			err = v.set(ctx, id, field, value)
		}
		if err != nil {
			if changed == 0 {
				return board.Outcome{}, err
			}
			why := explain(err)
			return board.Outcome{}, failure.New(failure.Invalid, fmt.Sprintf("%s were changed, then item %s was refused: %v", number(changed), cut(one, maxValue), why), "The others did not change.")
		}
		changed++
	}
	return board.Outcome{To: f.address(""), Notice: notice(number(changed) + " changed.")}, nil
}

func number(n int) string {
	if n == 1 {
		return "1 item"
	}
	return strconv.Itoa(n) + " items"
}

// set changes one field of an item.
func (v *View) set(ctx context.Context, id item.ID, field, value string) error {
	var p item.Patch
	switch field {
	case "status":
		p.Status = &value
	case "priority":
		p.Priority = &value
	case "assignee":
		p.Assignee = &value
	case "iteration":
		p.Iteration = &value
	case "label", "unlabel":
		it, err := v.o.Store.Item(ctx, id)
		if err != nil {
			return err
		}
		labels := slices.DeleteFunc(slices.Clone(it.Labels), func(l string) bool { return l == value })
		if field == "label" && value != "" {
			labels = append(labels, value)
		}
		p.Labels = &labels
	default:
		return failure.New(failure.Invalid, "Unknown change of several items", "Reload the page and try again.")
	}
	_, err := v.o.Store.Update(ctx, id, p)
	return err
}
